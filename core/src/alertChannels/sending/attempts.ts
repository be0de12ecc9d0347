/** Delays between attempts of a send, in seconds: attempts at 0, 30 s and 5 min. */
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
