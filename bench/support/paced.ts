/** An even pace. */
export interface Pace {
  readonly perSecond: number
  readonly seconds: number
}

/**
 * Starts something at an even pace until the time is over. A slow one delays no other. The first failure ends it.
 *
 * @param act gets the seconds since the first one
 * @throws the first failure
 */
export async function paced({ perSecond, seconds }: Pace, act: (at: number) => Promise<void>): Promise<void> {
  const startedAt = performance.now()
  const failures: unknown[] = []
  const running = new Set<Promise<void>>()
  for (let n = 0; n < perSecond * seconds && failures.length === 0; n += 1) {
    const waitMs = (n * 1000) / perSecond - (performance.now() - startedAt)
    if (waitMs > 1) await Bun.sleep(waitMs)
    const one: Promise<void> = act((performance.now() - startedAt) / 1000)
      .catch((failure: unknown) => void failures.push(failure))
      .finally(() => running.delete(one))
    running.add(one)
  }
  await Promise.all(running)
  if (failures.length > 0) throw failures[0]
}
