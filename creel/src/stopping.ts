import { readFileSync } from 'node:fs'
import type { Logger } from 'pino'
import { EXIT, exitCodeOf } from './exitCodes.ts'

/** Ctrl-C reaches us twice when npx or `bun run` stands between: from the terminal, and passed on by them. */
const ECHO_MILLISECONDS = 100

/** Why the service stops, and the code that it ends with. */
export interface Stop {
  readonly reason: string
  readonly exitCode: number
}

interface StopOptions {
  readonly log: Logger
  /** A reason to drain besides signals, in words. */
  readonly stopWhen: Promise<string> | undefined
  /** Ends what would outlive us when a second signal ends us. */
  readonly abandon: () => void
}

/**
 * Resolves at the first signal to stop, or at an error that nothing caught: what state that left is anybody's guess, so
 * the service drains and whoever supervises it starts it anew. A second signal ends the process at once: nothing
 * acknowledged is lost by that, the next start recovers.
 */
export function listenForStop({ log, stopWhen, abandon }: StopOptions): Promise<Stop> {
  return new Promise((resolve) => {
    void stopWhen?.then((reason) => resolve({ reason, exitCode: EXIT.ok }))
    let askedAt: number | undefined
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      // nohup starts us with SIGHUP ignored, which a listener would undo.
      if (signal === 'SIGHUP' && isHangUpIgnored()) continue
      process.on(signal, () => {
        if (askedAt === undefined) {
          askedAt = performance.now()
          resolve({ reason: signal, exitCode: EXIT.ok })
        } else if (performance.now() - askedAt > ECHO_MILLISECONDS) {
          abandon()
          process.exit(exitCodeOf(signal))
        }
      })
    }
    for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
      process.on(event, (error: unknown) => {
        log.fatal({ err: error }, 'an error that nothing caught')
        resolve({ reason: event, exitCode: EXIT.failed })
      })
    }
  })
}

/** Linux shows the mask; elsewhere nobody can tell. SIGHUP is signal 1, its lowest bit. */
function isHangUpIgnored(): boolean {
  try {
    const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0'
    return (BigInt(`0x${mask}`) & 1n) === 1n
  } catch {
    return false
  }
}
