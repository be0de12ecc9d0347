import type { Services } from '@creel/core'

/** A flood of calls during an outage must not become a flood of lines. */
const LINE_MILLISECONDS = 1000

const lastLines = new WeakMap<Services['log'], number>()

/**
 * Says that the database is out of reach, at most once a second. The error stands as `err`, by which the program's log knows
 * lines of an outage, whoever writes them: it passes one a second, without what the driver dumps.
 */
export function noteOutage(log: Services['log'], cause: unknown): void {
  const now = performance.now()
  if (now - (lastLines.get(log) ?? -LINE_MILLISECONDS) < LINE_MILLISECONDS) return
  lastLines.set(log, now)
  log.warn({ err: cause }, 'the database did not answer')
}
