/** Default seconds between one attempt and the next: 7 attempts, about 17.6 h. */
export const RETRY_DELAYS_SECONDS = [5, 300, 1800, 7200, 18_000, 36_000] as const

const UNIT_SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 }
const DURATION = /^\s*(\d{1,9}(?:\.\d{1,3})?)\s*(ms|s|m|h|d)\s*$/
const DELAYS_MAX = 50
const DELAY_SECONDS_MAX = 30 * 86_400

/** Reads a comma list of durations such as `5s,5m,2h` as seconds. An item that is no duration is NaN. */
export function retryDelaysOf(text: string): number[] {
  return text.split(',').map((part) => {
    const [, amount, unit = ''] = DURATION.exec(part) ?? []
    return Number(amount) * (UNIT_SECONDS[unit] ?? Number.NaN)
  })
}

/** From this many seconds on, a delay in milliseconds has more digits than a duration may have. */
const MS_DIGITS_SECONDS_MAX = 999_999

/** Writes delays for {@link retryDelaysOf}: each in the largest unit in which it is whole, such as `250ms,5m,2h`. */
export function retryScheduleText(delaysSeconds: readonly number[]): string {
  return delaysSeconds
    .map((seconds) => {
      const whole = ['d', 'h', 'm', 's'].find((name) => Number.isInteger(seconds / (UNIT_SECONDS[name] ?? 1)))
      const unit = whole ?? (seconds < MS_DIGITS_SECONDS_MAX ? 'ms' : 's')
      return `${Number((seconds / (UNIT_SECONDS[unit] ?? 1)).toFixed(3))}${unit}`
    })
    .join(',')
}

/** Whether a text is a schedule: 1 to 50 durations, each over 0 and at most 30 days. */
export function isRetrySchedule(text: string): boolean {
  const delays = retryDelaysOf(text)
  return delays.length <= DELAYS_MAX && delays.every((delay) => delay > 0 && delay <= DELAY_SECONDS_MAX)
}

/** Fraction by which delays vary at random, so that deliveries that failed together are not retried together. */
const JITTER = 0.2

/** The shortest delay after a 429 for which neither the receiver nor the policy names one. */
const TOO_MANY_REQUESTS_SECONDS = 60
/** Bound for `Retry-After`: a receiver that asks for years would end its deliveries. */
const RETRY_AFTER_SECONDS_MAX = 86_400

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
  /** Whether the delays are the action's own, not those of the installation. */
  readonly ownDelays: boolean
  /** No attempt is made at or after this. */
  readonly retentionEndsAt: Date
}

/**
 * When the next attempt is due. Null when there is none: the schedule is exhausted, or the attempt would be after the
 * retention of the request.
 *
 * A 429 waits for the longer of its `Retry-After` and the scheduled delay. If it has none and the delays are the
 * installation's, it waits for a minute at least. On a 503 `Retry-After` can lengthen the delay to at most twice as much.
 *
 * @param delays seconds between one attempt and the next
 * @param random 0 up to 1, for the jitter
 */
export function nextAttemptAt(
  failed: FailedAttempt,
  delays: readonly number[],
  random = Math.random(),
): Date | null {
  const scheduled = delays[failed.attempt - 1]
  if (scheduled === undefined) return null
  const jittered = scheduled * (1 + JITTER * (2 * random - 1))
  const seconds = Math.max(jittered, leastSeconds(failed, scheduled))
  const at = new Date(failed.now.getTime() + Math.round(seconds * 1000))
  return at < failed.retentionEndsAt ? at : null
}

/** Seconds that the answer of the receiver asks to wait. */
function leastSeconds({ statusCode, retryAfter, ownDelays, now }: FailedAttempt, scheduled: number): number {
  const asked = retryAfterSeconds(retryAfter, now)
  if (statusCode === 503) return Math.min(asked ?? 0, 2 * scheduled)
  if (statusCode !== 429) return 0
  return asked ?? (ownDelays ? 0 : TOO_MANY_REQUESTS_SECONDS)
}

/**
 * Seconds that a `Retry-After` field asks for (RFC 9110 §10.2.3), at most a day. Null when it is absent or unreadable.
 */
export function retryAfterSeconds(field: string | null, now: Date): number | null {
  if (field === null) return null
  const seconds = /^\s*\d{1,10}\s*$/.test(field) ? Number(field) : (Date.parse(field) - now.getTime()) / 1000
  return Number.isNaN(seconds) ? null : Math.min(RETRY_AFTER_SECONDS_MAX, Math.max(0, seconds))
}
