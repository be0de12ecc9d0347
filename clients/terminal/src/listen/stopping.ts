import { exitCodeOf, SIGNAL_ECHO_MS } from '../exitCodes.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Runs something until it ends or a signal stops it. The first signal lets work in flight finish, the second ends the
 * process at once. A reader that goes away (`| head`) stops it, too.
 *
 * @param work gets the signal that aborts on a stop
 */
export async function untilStopped(
  work: (signal: AbortSignal, stop: () => void) => Promise<void>,
): Promise<void> {
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  let askedAt: number | undefined
  const onSignal = (signal: (typeof SIGNALS)[number]) => {
    if (askedAt !== undefined && performance.now() - askedAt > SIGNAL_ECHO_MS) {
      process.exit(exitCodeOf(signal))
    }
    askedAt ??= performance.now()
    stop()
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  process.stdout.on('error', stop)
  try {
    await work(stopping.signal, stop)
  } finally {
    // The echo of the signal may still come, and would end the process by itself.
    if (askedAt === undefined) for (const signal of SIGNALS) process.off(signal, onSignal)
    process.stdout.off('error', stop)
  }
}
