/** A day in milliseconds: always 24 hours, without regard to time zones. */
export const DAY_MS = 86_400_000
export const HOUR_MS = 3_600_000

/**
 * Resolves after a time. Unlike a `sleep` of `node:timers/promises`, it does not keep the process alive.
 *
 * @param milliseconds below 0 counts as 0
 */
export function restFor(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.max(0, milliseconds)).unref()
  })
}

/**
 * Calls `work` at each interval. A call is left out while the one before still runs.
 *
 * @param work handles its own errors
 */
export function atIntervals(milliseconds: number, work: () => Promise<void>): { stop(): void } {
  let isWorking = false
  const timer = setInterval(async () => {
    if (isWorking) return
    isWorking = true
    try {
      await work()
    } finally {
      isWorking = false
    }
  }, milliseconds)
  return { stop: () => clearInterval(timer) }
}

export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => whenAborted(signal, resolve))
}

/** Calls `then` when the signal aborts; at once if it has aborted, when a listener of it would never be called. */
export function whenAborted(signal: AbortSignal, then: () => void): void {
  if (signal.aborted) then()
  else signal.addEventListener('abort', () => then(), { once: true })
}

/**
 * Resolves to the result of `work`, or to undefined after a timeout. The work itself continues; an error after the
 * timeout is dropped.
 *
 * @throws the error of `work`, if it fails in time
 */
export async function within<Value>(work: Promise<Value>, milliseconds: number): Promise<Value | undefined> {
  const late = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => late.resolve(undefined), Math.max(0, milliseconds))
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * The wait before the next try, in milliseconds: twice as long after each failure, from the first up to the longest.
 *
 * @param failures in a row, before the last one
 */
export function backoffMs(
  { first, max }: { readonly first: number; readonly max: number },
  failures: number,
): number {
  return Math.min(max, first * 2 ** failures)
}
