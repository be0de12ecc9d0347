import { nextAttemptAt } from '../../dispatch/index.ts'

/** Delays between attempts of a send, in seconds. */
const DELAYS_SECONDS = [30, 270]

/** Attempts of a send, unless its channel is failing. */
export const ATTEMPTS_MAX = DELAYS_SECONDS.length + 1

/** Lease of an attempt: the send's own 10 s and the work around it. */
export const LEASE_SECONDS = 30

/**
 * Additional attempts after a worker died during one. After these the send is given up, because it may be the cause of
 * the deaths.
 */
export const LOST_ATTEMPTS_MAX = 5

/** Attempts come at 0, 30 s and 5 min, without jitter: an alert should not be later than it is said to be. */
const SCHEDULE = { delaysSeconds: DELAYS_SECONDS, jitter: 0 }

/** A send that has failed. */
interface FailedSend {
  /** Number of attempts, including the one that failed. */
  readonly attempt: number
  /** 1 for a channel that was already failing, and for inline replays. */
  readonly attemptsMax: number
  readonly isPermanent: boolean
  readonly statusCode: number | null
  readonly retryAfter: string | null
}

/** Time of the next attempt after a failed one; null for none. */
export function nextSendAt(now: Date, { attemptsMax, isPermanent, ...failed }: FailedSend): Date | null {
  if (isPermanent || failed.attempt >= attemptsMax) return null
  return nextAttemptAt({ now, ...failed }, SCHEDULE)
}
