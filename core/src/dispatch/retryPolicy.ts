import { httpDate } from '../engine/message/index.ts'

/** Bound for `Retry-After`: a receiver that asks for years would end its sends. */
const RETRY_AFTER_SECONDS_MAX = 86_400

/** When sends of one kind are repeated. */
export interface RetrySchedule {
  /** Seconds between one attempt and the next. */
  readonly delaysSeconds: readonly number[]
  /** Fraction by which a delay varies at random, so that sends that failed together are not repeated together. */
  readonly jitter: number
  /** Least delay after a 429 without a readable `Retry-After`. Default 0. */
  readonly tooManyRequestsSeconds?: number
}

/** Facts about a failed attempt that decide when the next one is due. */
export interface FailedAttempt {
  /** When it ended. */
  readonly now: Date
  /** Its number, from 1. */
  readonly attempt: number
  /** Null when nothing came back. */
  readonly statusCode: number | null
  /** The `Retry-After` field as received: seconds or an HTTP date. */
  readonly retryAfter: string | null
  /** No attempt is made at or after this. Absent: there is no such time. */
  readonly endsAt?: Date
}

/**
 * When the next attempt of a send is due. Null when there is none: the schedule is exhausted, or the attempt would be
 * too late.
 *
 * A 429 waits for the longer of its `Retry-After` and the delay. On a 503 `Retry-After` can lengthen the delay to at
 * most twice as much.
 *
 * @param random 0 up to 1, for the jitter
 */
export function nextAttemptAt(
  failed: FailedAttempt,
  schedule: RetrySchedule,
  random = Math.random(),
): Date | null {
  const delay = schedule.delaysSeconds[failed.attempt - 1]
  if (delay === undefined) return null
  const jittered = delay * (1 + schedule.jitter * (2 * random - 1))
  const seconds = Math.max(jittered, leastSeconds(failed, delay, schedule))
  const at = new Date(failed.now.getTime() + Math.round(seconds * 1000))
  return failed.endsAt === undefined || at < failed.endsAt ? at : null
}

/** Seconds that the answer of the receiver asks to wait. */
function leastSeconds(
  { statusCode, retryAfter, now }: FailedAttempt,
  delay: number,
  { tooManyRequestsSeconds = 0 }: RetrySchedule,
): number {
  const asked = retryAfterSeconds(retryAfter, now)
  if (statusCode === 429) return asked ?? tooManyRequestsSeconds
  return statusCode === 503 ? Math.min(asked ?? 0, 2 * delay) : 0
}

/** `Retry-After` of an answer, by whichever spelling; null without one. */
export function retryAfterOf(
  headers: readonly (readonly [name: string, value: string])[] = [],
): string | null {
  return headers.find(([name]) => name.toLowerCase() === 'retry-after')?.[1] ?? null
}

/**
 * Seconds that a `Retry-After` field asks for (RFC 9110 §10.2.3), at most a day. Null when it is absent or unreadable.
 */
export function retryAfterSeconds(field: string | null, now: Date): number | null {
  if (field === null) return null
  // Some send fractions. `httpDate` takes other numbers for dates, too: those of HTTP have letters.
  const date = /[a-z]/i.test(field) ? httpDate(field) : Number.NaN
  const isNumber = /^\s*\d+(?:\.\d{1,9})?\s*$/.test(field)
  const seconds = isNumber ? Number(field) : (date - now.getTime()) / 1000
  return Number.isNaN(seconds) ? null : Math.min(RETRY_AFTER_SECONDS_MAX, Math.max(0, seconds))
}
