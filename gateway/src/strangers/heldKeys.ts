/** Checks keys, or tokens of sessions, at a bounded cost for the database. */
export interface HeldKeys {
  /** Caches a key that turned out to be good. */
  remember(key: string): void
  /** @returns whether the key is good; delayed, unless the key is cached */
  isGood(key: string): Promise<boolean>
}

/** Filters keys to the good ones, in one query. */
export type LookUpKeys = (keys: ReadonlySet<string>) => Promise<ReadonlySet<string>>

const LOOK_MS = 1000
const REMEMBERED_MAX = 10_000

/**
 * Creates the check for callers from addresses with too many failed calls. However many keys they make up, the database
 * is queried once a second, for all of them together. A good key is only delayed.
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
      // Moves the key to the end: the order is that of the last use.
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
