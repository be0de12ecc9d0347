/** How the program ends; documented in docs/operations.md and in `creel help config`. */
export const EXIT = {
  /** Done; a service that was asked to stop has drained. */
  ok: 0,
  /** Failed or refused; the reason is on stderr. */
  failed: 1,
  /** The environment or the command line is wrong; nothing was done. */
  usage: 2,
} as const

/** The code of a process that a signal ended at once, as shells count. */
export const exitCodeOf = (signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP'): number =>
  128 + { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 }[signal]
