/** Delays between attempts of a send, in seconds: attempts at 0, 30 s and 5 min. */
const DELAYS_SECONDS = [30, 270]

/** Attempts of a send, unless its channel is failing. */
export const ATTEMPTS_MAX = DELAYS_SECONDS.length + 1

/** Lease of an attempt: the send's own 10 s and the work around it. */
export const CLAIM_SECONDS = 30

/**
 * Additional attempts after a worker died during one. After these the send is given up, because it may be the cause of
 * the deaths.
 */
export const LOST_ATTEMPTS_MAX = 5

/** Tolerance for a job that runs early: the queue uses the database's clock, we use ours. */
export const EARLY_SECONDS = 5

/**
 * Time of the next attempt after a failed one; null for none.
 *
 * @param attemptsMade including the one that failed
 * @param attemptsMax 1 for a channel that was already failing, and for inline replays
 */
export function nextAttemptAt(
  now: Date,
  attemptsMade: number,
  attemptsMax: number,
  permanent: boolean,
): Date | null {
  const delay = DELAYS_SECONDS[attemptsMade - 1]
  if (permanent || attemptsMade >= attemptsMax || delay === undefined) return null
  return new Date(now.getTime() + delay * 1000)
}

/**
 * Time to check again whether an earlier send has ended. It is soon, because the send may end long before its next
 * attempt.
 */
export function waitFor(due: Date, now: Date): Date {
  const seconds = Math.min(Math.max((due.getTime() - now.getTime()) / 1000, 1), 5)
  return new Date(now.getTime() + seconds * 1000)
}
