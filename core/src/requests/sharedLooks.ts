/** Lookups that concurrent readers share: all readers with the same key get the result of the first lookup. */
export interface SharedLooks<Found> {
  /** @throws errors of the lookup; the next caller looks again */
  find(key: string, look: () => Promise<Found>): Promise<Found>
  /**
   * Drops all results after a change. A lookup that has begun may have missed it, and is not shared with later callers.
   */
  clear(): void
}

/** Keeps the result of every key until `clear`, without bound. A failed lookup is not kept. */
export function sharedLooks<Found>(): SharedLooks<Found> {
  const looks = new Map<string, Promise<Found>>()
  return {
    find(key, look) {
      const known = looks.get(key)
      if (known !== undefined) return known
      const found = look()
      looks.set(key, found)
      found.catch(() => {
        if (looks.get(key) === found) looks.delete(key)
      })
      return found
    },
    clear: () => looks.clear(),
  }
}
