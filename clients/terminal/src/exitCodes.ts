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
export const SIGNAL_ECHO_MS = 100
