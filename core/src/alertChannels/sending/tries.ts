/** Seconds from one try of a send to the next (CONTRACT §10): tries at 0, 30 s and 5 min. */
const DELAYS_SECONDS = [30, 270]

/** How often an alert is tried at a place that works, or may. */
export const TRIES_MAX = DELAYS_SECONDS.length + 1

/** How long a try may take before its worker counts as dead: the send's own 10 s and what is around it. */
export const CLAIM_SECONDS = 30

/**
 * Tries beyond `triesMax` that are made because a worker died in one. After these the send is given up: it may be
 * what they die of.
 */
export const LOST_TRIES_MAX = 5

/** A job that comes this much early is on time: the queue goes by the database's clock, we by ours. */
export const EARLY_SECONDS = 5

/**
 * When to try again after a failed try; null for never.
 *
 * @param triesMade including the one that failed
 * @param triesMax 1 for a channel that was failing already, and for inline replays
 */
export function nextTryAt(now: Date, triesMade: number, triesMax: number, permanent: boolean): Date | null {
  const delay = DELAYS_SECONDS[triesMade - 1]
  if (permanent || triesMade >= triesMax || delay === undefined) return null
  return new Date(now.getTime() + delay * 1000)
}

/** When to look again whether a send that goes first is over: soon, for it may end long before its next try. */
export function waitFor(due: Date, now: Date): Date {
  const seconds = Math.min(Math.max((due.getTime() - now.getTime()) / 1000, 1), 5)
  return new Date(now.getTime() + seconds * 1000)
}
