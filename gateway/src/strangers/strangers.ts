import type { Clock } from '@creel/core'
import { addressGroup } from '../http/connectionTable.ts'

/** Counts what strangers ask for in vain: calls without a good key, captures for nobody. */
export interface Strangers {
  /**
   * @param address as far as we believe proxies; null where nobody knows
   * @returns in how many seconds the address may be wrong again; undefined when it may be now
   */
  waitOf(address: string | null): number | undefined
  /**
   * The address was answered 401, or 404 without a good key.
   *
   * @param isForwarded whether the call carried header fields of a proxy
   */
  note(address: string | null, isForwarded: boolean): void
}

/** How calls that came through a proxy count. */
export interface StrangersOptions {
  /** Whether proxies are trusted. Then the address is that of the client, and header fields of other proxies mean nothing. */
  readonly trustsProxies: boolean
  /** Called for each wrong call of a proxy while none is trusted, with its address; does nothing by default. */
  readonly onUndeclared?: (proxy: string | null) => void
}

/** What one address may ask for in vain within a minute. */
const WRONG_CALLS_PER_MINUTE = 600
/** The same for an address that forwards calls, where no proxy is trusted: all clients of a proxy share its address. */
const FORWARDED_WRONG_CALLS_PER_MINUTE = 6000
const WINDOW_MS = 60_000
/** Some hundred bytes each. */
const ADDRESSES_MAX = 50_000

interface Window {
  readonly startedAt: number
  count: number
  isOfProxy: boolean
}

/**
 * A window starts with an address's first wrong call and is fixed; what is refused meanwhile does not count, so that whoever
 * waits as long as `Retry-After` says is answered again.
 */
export function createStrangers(
  clock: Clock,
  { trustsProxies, onUndeclared = () => {} }: StrangersOptions,
): Strangers {
  const windows = new Map<string, Window>()
  const nowMs = () => clock.now().getTime()
  const windowOf = (group: string): Window | undefined => {
    const window = windows.get(group)
    if (window === undefined || nowMs() - window.startedAt < WINDOW_MS) return window
    windows.delete(group)
    return undefined
  }
  return {
    waitOf(address) {
      if (windows.size === 0) return undefined
      const window = windowOf(groupOf(address))
      if (window === undefined || window.count < boundOf(window)) return undefined
      return Math.max(1, Math.ceil((window.startedAt + WINDOW_MS - nowMs()) / 1000))
    },
    note(address, isForwarded) {
      const isOfProxy = isForwarded && !trustsProxies
      if (isOfProxy) onUndeclared(address)
      const group = groupOf(address)
      const window = windowOf(group)
      if (window !== undefined) {
        window.count += 1
        window.isOfProxy ||= isOfProxy
        return
      }
      windows.set(group, { startedAt: nowMs(), count: 1, isOfProxy })
      if (windows.size <= ADDRESSES_MAX) return
      // The oldest: most of them have ended.
      const [oldest] = windows.keys()
      if (oldest !== undefined) windows.delete(oldest)
    },
  }
}

function boundOf({ isOfProxy }: Window): number {
  return isOfProxy ? FORWARDED_WRONG_CALLS_PER_MINUTE : WRONG_CALLS_PER_MINUTE
}

function groupOf(address: string | null): string {
  return address === null ? '' : addressGroup(address)
}
