/** Tells good keys, or tokens of sessions, from others at a bounded price. */
export interface HeldKeys {
  /** A key turned out to be good: from now on that is known at once. */
  remember(key: string): void
  /** @returns whether the key is good; after a moment, unless it is remembered */
  isGood(key: string): Promise<boolean>
}

/** Which of these keys are good, in one look. */
export type LookUpKeys = (keys: ReadonlySet<string>) => Promise<ReadonlySet<string>>

const LOOK_MS = 1000
const REMEMBERED_MAX = 10_000

/**
 * For callers from addresses that ask in vain too often: however many they are and whatever keys they make up, the database is
 * asked once a second, for all of them together; a good key is only delayed.
 */
export function createHeldKeys(lookUp: LookUpKeys): HeldKeys {
  const remembered = new Set<string>()
  let waiting = new Map<string, PromiseWithResolvers<boolean>>()

  const look = async () => {
    const asked = waiting
    waiting = new Map()
    try {
      const good = await lookUp(new Set(asked.keys()))
      for (const [key, { resolve }] of asked) resolve(good.has(key))
    } catch (error) {
      for (const { reject } of asked.values()) reject(error)
    }
  }

  return {
    remember(key) {
      // Its place is that of its last use.
      remembered.delete(key)
      remembered.add(key)
      if (remembered.size <= REMEMBERED_MAX) return
      const [leastUsed] = remembered
      if (leastUsed !== undefined) remembered.delete(leastUsed)
    },
    isGood(key) {
      if (remembered.has(key)) return Promise.resolve(true)
      const known = waiting.get(key)
      if (known !== undefined) return known.promise
      if (waiting.size === 0) setTimeout(() => void look(), LOOK_MS)
      const answer = Promise.withResolvers<boolean>()
      waiting.set(key, answer)
      return answer.promise
    },
  }
}
