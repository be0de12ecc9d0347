import type { Clock } from '../api/services.ts'
import { setNewest } from '../platform/memory/index.ts'
import type { CaptureSettings } from './captureSettings.ts'

/** A gateway's cache of endpoint settings, by the ids in their capture URLs. */
export interface SettingsCache {
  /** Cached settings, at once; undefined if they must be read, as for a previous URL that has expired. */
  peek(captureId: string): CaptureSettings | undefined
  /**
   * Cached settings, else those in the database.
   *
   * @returns undefined when there is no such endpoint. This is not cached, so that a new endpoint works at once
   * @throws errors of the database, and of this endpoint's settings
   */
  find(captureId: string): Promise<CaptureSettings | undefined>
  /** Drops settings that are out of date, under every id. */
  forget(settings: CaptureSettings): void
  /** Drops settings with the data key of an endpoint, which was destroyed. */
  forgetKey(endpointId: string): void
}

/** The most endpoints in the cache. Each takes some kilobytes: secrets, conditions and response body. */
const REMEMBERED_MAX = 5_000
/**
 * The most ids of one query. The others wait for the next, so that requests with random ids cost few queries at a time.
 */
const LOADED_AT_ONCE_MAX = 200

export type LoadSettings = (captureIds: readonly string[]) => Promise<Map<string, CaptureSettings | Error>>

/**
 * Makes a cache of settings. Changes do not invalidate it: the capture statement detects settings of an old revision,
 * and its caller drops them. No capture is stored under old settings.
 *
 * Misses of the same moment share one query, and one query is in flight at a time.
 */
export function createSettingsCache(load: LoadSettings, clock: Clock): SettingsCache {
  // Ordered by last use: a Map keeps the order in which keys were set.
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
        for (const [id, settings] of found)
          if (!(settings instanceof Error || settings.isSealed)) remember(id, settings)
        for (const [id, asked] of batch) {
          const settings = found.get(id)
          if (settings instanceof Error) asked.reject(settings)
          else asked.resolve(settings)
        }
      } catch (error) {
        for (const [, asked] of batch) asked.reject(error)
      }
    }
    loading = false
  }

  const remember = (id: string, settings: CaptureSettings) =>
    setNewest(remembered, id, settings, REMEMBERED_MAX)

  const forget: SettingsCache['forget'] = ({ captureId, previousCaptureId }) => {
    remembered.delete(captureId)
    if (previousCaptureId !== null) remembered.delete(previousCaptureId)
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
    forget,
    forgetKey(endpointId) {
      for (const settings of [...remembered.values()])
        if (settings.sealing !== null && settings.endpointId === endpointId) forget(settings)
    },
  }
}

function hasEnded({ previousCaptureUntil }: CaptureSettings, clock: Clock): boolean {
  return previousCaptureUntil !== null && previousCaptureUntil <= clock.now()
}
