import { z } from 'zod'
import { timeCursorInput } from '../api/cursors.ts'
import { withExample } from '../api/examples.ts'
import { pageInput } from '../api/pagination.ts'
import { optional, Timestamp } from '../api/values.ts'
import { EventArguments, eventsMembers } from '../events/index.ts'
import { FAILURES } from './callback.ts'

const Url = z.string().min(1).max(2048)

/** Input that subscribes, or refreshes a subscription. */
export const createInput = z.object({
  ...eventsMembers,
  delivery: z.object({
    mode: z.literal('webhook'),
    url: Url.describe('Callback: https, on a public address'),
    secret: z
      .string()
      .max(200)
      // Checked beside the URL: as a part of the schema it would hide what is wrong with that.
      .meta({
        pattern: '^whsec_',
        description: 'Signs every message: `whsec_` and the Base64 of 24 to 64 bytes; never shown',
      }),
  }),
  ttlMs: z
    .int()
    .min(0)
    .nullish()
    .describe(
      'Wish for the time until the next refresh, within 5 minutes and a day. Default: an hour; null: a day',
    ),
  controls: optional(z.boolean()).describe(
    'Whether the callback knows the messages `gap` and `terminated`; default false',
  ),
})
export type CreateInput = z.output<typeof createInput>

/** State of the sends of a subscription. */
export const DeliveryStatus = z.object({
  active: z.boolean().describe('False while attempts fail'),
  lastDeliveryAt: Timestamp.nullable(),
  lastError: z.enum(FAILURES).nullable(),
  failedSince: Timestamp.nullable(),
  throttled: z.boolean().describe('Events wait for the next minute: the limit of the plan'),
  retryAfterMs: z.int().nullable(),
})

export const Subscribed = withExample(
  'EventSubscribed',
  z.object({
    id: z.uuid(),
    refreshBefore: Timestamp.describe('The subscription ends then, unless it is refreshed'),
    cursor: z.string().describe('Events up to here were acknowledged or given up'),
    truncated: z.boolean().describe('Events that matched may have been skipped since the last call'),
    deliveryStatus: DeliveryStatus.nullable().describe('Null for a new subscription'),
  }),
)

/** Input that ends a subscription by its parts. */
export const unsubscribeInput = z.object({
  name: eventsMembers.name,
  arguments: EventArguments.nullish(),
  delivery: z.object({ mode: optional(z.literal('webhook')), url: Url }),
})

/** Input of the list of subscriptions: a page, or what is before or after a cursor. */
export const listInput = z.object({ ...pageInput, ...timeCursorInput('subscriptions') })

export const oneInput = z.object({
  subscriptionId: z.string().meta({ format: 'uuid', description: 'Id of the subscription' }),
})

/** A subscription, as the API shows it: without the path of its callback, which is a capability. */
export const EventSubscription = withExample(
  'EventSubscription',
  z.object({
    id: z.uuid(),
    endpointId: z.uuid(),
    name: z.string(),
    arguments: z.record(z.string(), z.unknown()),
    key: z.object({ id: z.uuid(), name: z.string(), prefix: z.string() }),
    host: z.string().describe('Host of the callback'),
    createdAt: Timestamp,
    refreshedAt: Timestamp,
    expiresAt: Timestamp,
    cursor: z.string(),
    waitingCount: z.int().describe('Events that wait for an attempt'),
    sentCount: z.int(),
    failedCount: z.int().describe('Events that were given up'),
    status: DeliveryStatus,
  }),
)

const attempt = {
  statusCode: z.int().nullable(),
  error: z.enum(FAILURES).nullable(),
  durationMs: z.int(),
}

/** Attempts as a message stores them. */
export const StoredAttempts = z.array(z.object({ at: z.string(), ...attempt }))

/** A subscription with its newest events. */
export const EventSubscriptionDetail = withExample(
  'EventSubscriptionDetail',
  EventSubscription.extend({
    deliveries: z
      .array(
        z.object({
          messageId: z.string(),
          requestId: z.int().nullable(),
          state: z.enum(['waiting', 'sent', 'failed']),
          nextAt: Timestamp.nullable(),
          attempts: z.array(z.object({ at: Timestamp, ...attempt })),
        }),
      )
      .describe('The newest 20 messages, newest first'),
  }),
)
