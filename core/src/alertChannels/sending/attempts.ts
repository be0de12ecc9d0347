/** Seconds from one attempt of a send to the next: attempts at 0, 30 s and 5 min. */
const DELAYS_SECONDS = [30, 270]

/** How often an alert is tried at a place that works, or may. */
export const ATTEMPTS_MAX = DELAYS_SECONDS.length + 1

/** How long an attempt may take before its worker counts as dead: the send's own 10 s and what is around it. */
export const CLAIM_SECONDS = 30

/**
 * Attempts beyond `attemptsMax` that are made because a worker died in one. After these the send is given up: it may be
 * what they die of.
 */
export const LOST_ATTEMPTS_MAX = 5

/** A job that comes this much early is on time: the queue goes by the database's clock, we by ours. */
export const EARLY_SECONDS = 5

/**
 * When to try again after a failed attempt; null for never.
 *
 * @param attemptsMade including the one that failed
 * @param attemptsMax 1 for a channel that was failing already, and for inline replays
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

/** When to look again whether a send that goes first is over: soon, for it may end long before its next attempt. */
export function waitFor(due: Date, now: Date): Date {
  const seconds = Math.min(Math.max((due.getTime() - now.getTime()) / 1000, 1), 5)
  return new Date(now.getTime() + seconds * 1000)
}
