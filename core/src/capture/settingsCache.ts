import type { Clock } from '../api/services.ts'
import type { CaptureSettings } from './captureSettings.ts'

/** What a gateway remembers of the endpoints that it captures for, by what their capture URLs are called by. */
export interface SettingsCache {
  /** What is remembered, at once; undefined when it must be read, as for an old URL whose time is over. */
  peek(captureId: string): CaptureSettings | undefined
  /**
   * What is remembered, else what the database says.
   *
   * @returns undefined when there is no such endpoint; never remembered, so that a new endpoint works at once
   * @throws what the database threw
   */
  find(captureId: string): Promise<CaptureSettings | undefined>
  /** Forgets settings that turned out to be old, under every id. */
  forget(settings: CaptureSettings): void
}

/** Some kilobytes each: their secrets, conditions and response body. */
const REMEMBERED_MAX = 5_000
/** In one query; the rest waits for the next, so that strangers' random ids cost few queries at a time. */
const LOADED_AT_ONCE_MAX = 200

type Load = (captureIds: readonly string[]) => Promise<Map<string, CaptureSettings>>

/**
 * Remembers settings by revision. Nothing invalidates it: the capture statement notices old settings and makes
 * its caller forget them, so they can never be used for a capture that is stored.
 *
 * Misses of one moment are read together, and one read is under way at a time.
 */
export function createSettingsCache(load: Load, clock: Clock): SettingsCache {
  // In the order of last use: a Map keeps the order in which keys were set.
  const remembered = new Map<string, CaptureSettings>()
  const waiting = new Map<string, PromiseWithResolvers<CaptureSettings | undefined>>()
  let loading = false

  const peek = (captureId: string) => {
    const settings = remembered.get(captureId)
    if (settings === undefined) return undefined
    remembered.delete(captureId)
    if (settings.previousCaptureId === captureId && hasEnded(settings, clock)) return undefined
    remembered.set(captureId, settings)
    return settings
  }

  const loadWaiting = async () => {
    loading = true
    while (waiting.size > 0) {
      const batch = [...waiting].slice(0, LOADED_AT_ONCE_MAX)
      for (const [id] of batch) waiting.delete(id)
      try {
        const found = await load(batch.map(([id]) => id))
        for (const [id, settings] of found) remember(id, settings)
        for (const [id, asked] of batch) asked.resolve(found.get(id))
      } catch (error) {
        for (const [, asked] of batch) asked.reject(error)
      }
    }
    loading = false
  }

  const remember = (id: string, settings: CaptureSettings) => {
    remembered.delete(id)
    remembered.set(id, settings)
    if (remembered.size <= REMEMBERED_MAX) return
    const [leastUsed] = remembered.keys()
    if (leastUsed !== undefined) remembered.delete(leastUsed)
  }

  return {
    peek,
    find(captureId) {
      const known = peek(captureId)
      if (known !== undefined) return Promise.resolve(known)
      const asked = waiting.get(captureId) ?? Promise.withResolvers<CaptureSettings | undefined>()
      waiting.set(captureId, asked)
      if (!loading) void loadWaiting()
      return asked.promise
    },
    forget({ captureId, previousCaptureId }) {
      remembered.delete(captureId)
      if (previousCaptureId !== null) remembered.delete(previousCaptureId)
    },
  }
}

function hasEnded({ previousCaptureUntil }: CaptureSettings, clock: Clock): boolean {
  return previousCaptureUntil !== null && previousCaptureUntil <= clock.now()
}
