/** What several readers look for at once: whoever asks with a key gets what the first one finds. */
export interface SharedLooks<Found> {
  /** @throws what the look throws; who asks after that looks again */
  find(key: string, look: () => Promise<Found>): Promise<Found>
  /** Something changed: looks that have begun may have missed it, and answer nobody who asks from now on. */
  clear(): void
}

/** Keeps what was found under every key until `clear`, without bound; a look that failed is not kept. */
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
