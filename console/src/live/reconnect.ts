const RETRY_MS = { first: 1_000, max: 15_000 } as const

/**
 * The wait before the next call of the service, in milliseconds: twice as long after each failure.
 *
 * @param failures in a row, before the last one
 */
export function reconnectMs(failures: number): number {
  return Math.min(RETRY_MS.max, RETRY_MS.first * 2 ** failures)
}
