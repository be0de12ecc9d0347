/** A day in milliseconds: 24 hours, whatever the clocks of a country do. */
export const DAY_MS = 86_400_000

/**
 * Resolves after that long. A process may end before.
 *
 * @param milliseconds below 0 counts as 0
 */
export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.max(0, milliseconds)).unref()
  })
}

/**
 * What `work` resolves to, or undefined when it takes longer. The work itself goes on; when it fails later, nobody
 * hears of it.
 *
 * @throws what `work` rejects with, when it does so in time
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
