import type { Services } from '@creel/core'

/** Minimum interval between lines, so that a flood of calls during an outage does not flood the log. */
const LINE_MILLISECONDS = 1000

/** Time of the last line, by log: each service of a process has its own, and pino has no place for it. */
const lastLines = new WeakMap<Services['log'], number>()

/**
 * Logs that the database is unreachable, at most once a second. The error is logged as `err`. By it the program's log
 * recognises all lines about an outage and passes one a second, without the driver's details.
 */
export function noteOutage(log: Services['log'], cause: unknown): void {
  const now = performance.now()
  if (now - (lastLines.get(log) ?? -LINE_MILLISECONDS) < LINE_MILLISECONDS) return
  lastLines.set(log, now)
  log.warn({ err: cause }, 'the database did not answer')
}
