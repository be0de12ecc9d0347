import { readFileSync } from 'node:fs'
import { EXIT, exitCodeOf, firstSignals } from '@creel/terminal/exitCodes'
import type { Logger } from 'pino'

export interface Stop {
  readonly reason: string
  readonly exitCode: number
}

interface StopOptions {
  readonly log: Logger
  /** A further reason to drain, as text; signals are the usual one. */
  readonly stopWhen: Promise<string> | undefined
  /** Terminates what would outlive us when a second signal ends us. */
  readonly abandon: () => void
}

/**
 * Resolves at the first signal to stop, or at an uncaught error. After such an error the state is unknown, so the
 * service drains and its supervisor restarts it. A second signal ends the process at once. Acknowledged data is not
 * lost by that: the next start recovers it.
 */
export function listenForStop({ log, stopWhen, abandon }: StopOptions): Promise<Stop> {
  return new Promise((resolve) => {
    void stopWhen?.then((reason) => resolve({ reason, exitCode: EXIT.ok }))
    const isFirst = firstSignals()
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      // nohup starts us with SIGHUP ignored, and a handler would undo that.
      if (signal === 'SIGHUP' && isHangUpIgnored()) continue
      process.on(signal, () => {
        if (isFirst()) resolve({ reason: signal, exitCode: EXIT.ok })
        else {
          abandon()
          process.exit(exitCodeOf(signal))
        }
      })
    }
    for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
      process.on(event, (error: unknown) => {
        log.fatal({ err: error }, 'uncaught error')
        resolve({ reason: event, exitCode: EXIT.failed })
      })
    }
  })
}

/** Whether a process with this id runs, under any account. */
export function isAlive(pid: number): boolean {
  if (!(pid > 0)) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: the process is alive, under another account.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Linux shows the mask; other systems do not. SIGHUP is signal 1, its lowest bit. */
function isHangUpIgnored(): boolean {
  try {
    const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0'
    return (BigInt(`0x${mask}`) & 1n) === 1n
  } catch {
    return false
  }
}
