import { z } from 'zod'
import type { Accepted } from '../api/checks.ts'
import type { RetrySchedule } from '../dispatch/index.ts'
import { parsePath } from '../engine/conditions/index.ts'
import { isStorable } from '../engine/issues.ts'
import { isRetrySchedule, retryDelaysOf } from './retrySchedule.ts'
import { GONE } from './states.ts'

/** The `by` of an order in which all requests of the endpoint share one key. */
export const ORDER_BY_ENDPOINT = 'endpoint'
/** Classes that `retry.on` may name, in addition to single statuses. */
const RETRY_CLASSES = ['3xx', '4xx', '5xx'] as const
const RETRY_DELAYS_MAX = 50
const RETRY_ON_MAX = 100
const ORDER_BY_LENGTH_MAX = 1024
/** Fraction by which delays vary at random. */
const JITTER = 0.2
/** The shortest delay after a 429 for which neither the receiver nor the policy names one. */
const TOO_MANY_REQUESTS_SECONDS = 60

const OrderBy = z.string().superRefine((text, context) => {
  if (text === ORDER_BY_ENDPOINT) return
  if (!isStorable(text)) {
    const message = 'must hold neither NUL nor half of a surrogate pair'
    context.addIssue({ code: 'custom', params: { code: 'not_allowed' }, message })
    return
  }
  const parsed = parsePath(text.slice(0, ORDER_BY_LENGTH_MAX), { every: false, deliveryFacts: false })
  if ('path' in parsed) return
  const { code, reason } = parsed.problem
  context.addIssue({ code: 'custom', params: { code }, message: reason })
})

const RetryDelay = z
  .string()
  .max(30)
  .refine((text) => !text.includes(',') && isRetrySchedule(text), {
    params: { code: 'bad_format' },
    message: 'A delay is a duration over 0 and at most 30d, like 5s, 250ms, 10m or 2h.',
  })

/** Settings for how a forward treats its destination. An absent or null member means the installation's default. */
export const DeliveryPolicy = z.object({
  timeoutSeconds: z.nullish(z.int().min(1).max(300)).describe('Seconds that a whole attempt may take'),
  concurrency: z.nullish(z.int().min(1).max(512)).describe('Attempts in flight at once, over all processes'),
  rate: z
    .nullish(z.object({ count: z.int().min(1).max(10_000), perSeconds: z.int().min(1).max(3600) }))
    .describe('Attempts that may start in any period of `perSeconds`, over all processes'),
  order: z
    .nullish(
      z.object({
        by: OrderBy.describe('The path of the key, like `body.customer.id`, or `endpoint`'),
        onDeadLetter: z
          .enum(['continue', 'hold'])
          .default('continue')
          .describe('After a dead letter, deliveries of its key continue, or wait for a replay or skip'),
      }),
    )
    .describe('Deliveries of one key go out one after the other, in the order of the requests'),
  retry: z
    .nullish(
      z.object({
        delays: z
          .nullish(z.array(RetryDelay).max(RETRY_DELAYS_MAX))
          .describe('Times between one attempt and the next; none = no retry'),
        on: z
          .nullish(z.array(z.union([z.int().min(300).max(599), z.enum(RETRY_CLASSES)])).max(RETRY_ON_MAX))
          .describe('Statuses that are retried; default each but 2xx and 410'),
      }),
    )
    .describe('When another attempt follows. Transport errors are always retried'),
  breaker: z
    .nullish(
      z.object({
        failures: z.int().min(1).max(1000),
        windowSeconds: z.int().min(1).max(3600),
        probeEverySeconds: z.int().min(1).max(3600),
      }),
    )
    .describe('After so many failures in the window, only probes go out until one succeeds'),
  backlogAlertSeconds: z
    .nullish(z.int().min(10).max(604_800))
    .describe('An incident opens while a delivery has waited for longer'),
  gone: z
    .nullish(z.enum(['end', 'pause']))
    .describe('Effect of a 410: end the delivery, or also pause the action; default `end`'),
})

/** {@link DeliveryPolicy} after parsing. Members that were left out are null or undefined. */
export type DeliveryPolicy = z.output<typeof DeliveryPolicy>

/** A policy that changes nothing. */
export const NO_POLICY: DeliveryPolicy = {}

/** Writes a policy for its column; null when no member is set. */
export function policyText(policy: Accepted<DeliveryPolicy>): string | null {
  const text = JSON.stringify(policy, (_, value: unknown) => value ?? undefined)
  return text === '{}' ? null : text
}

/** Reads a policy that {@link policyText} wrote. */
export function storedPolicy(text: string | null): DeliveryPolicy {
  return text === null ? NO_POLICY : DeliveryPolicy.parse(JSON.parse(text))
}

/**
 * When deliveries are attempted again.
 *
 * @param installation seconds between one attempt and the next, if the policy has no delays
 */
export function scheduleOf({ retry }: DeliveryPolicy, installation: readonly number[]): RetrySchedule {
  const own = retry?.delays?.flatMap((text) => retryDelaysOf(text))
  return own === undefined
    ? { delaysSeconds: installation, jitter: JITTER, tooManyRequestsSeconds: TOO_MANY_REQUESTS_SECONDS }
    : { delaysSeconds: own, jitter: JITTER }
}

/** Whether a delivery is retried after a status that is not a 2xx. A 410 never is. */
export function isRetried({ retry }: DeliveryPolicy, statusCode: number): boolean {
  if (statusCode === GONE) return false
  const ofClass = `${Math.floor(statusCode / 100)}xx`
  return retry?.on?.some((one) => one === statusCode || one === ofClass) ?? true
}
