/** Exit codes of the program; documented in docs/operations.md and in `creel help config`. */
export const EXIT = {
  /** Success; a service that was asked to stop has drained. */
  ok: 0,
  /** Failed or refused; the reason is on stderr. */
  failed: 1,
  /** The environment or the command line is wrong; nothing was done. */
  usage: 2,
} as const

/** The exit code of a process that a signal has terminated, in the shells' convention. */
export const exitCodeOf = (signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP'): number =>
  128 + { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 }[signal]

/**
 * Within this time a second signal is the first one again: Ctrl-C reaches the program twice when npx, npm's launcher or `bun run` is between,
 * from the terminal and passed on by them.
 */
const SIGNAL_ECHO_MS = 100

/**
 * Tells the first signal and its echoes from a second one. The time begins when what the first one asks for at once is
 * done: a busy process would take its echo for a second signal.
 *
 * @returns to be called at each signal: true for the first one
 */
export function firstSignals(): () => boolean {
  let until: number | undefined
  return () => {
    if (until !== undefined) return performance.now() <= until
    until = Number.POSITIVE_INFINITY
    setImmediate(() => {
      until = performance.now() + SIGNAL_ECHO_MS
    })
    return true
  }
}
