import type { Clock } from '@creel/core'
import { setNewest } from '@creel/core/platform/memory'
import { addressGroup } from '../http/connectionTable.ts'
import { ALONE, type SharedCounts } from '../sharedCounts/index.ts'

/** Counts failed calls of each address: calls without a good key, and captures for unknown endpoints. */
export interface Strangers {
  /**
   * @param address taken from trusted proxies; null when unknown
   * @returns seconds until the address may fail again; undefined when it is below the limit
   */
  waitOf(address: string | null): number | undefined
  /**
   * Counts a call that was answered 401, or 404 without a good key.
   *
   * @param isForwarded whether the call carried header fields of a proxy
   */
  note(address: string | null, isForwarded: boolean): void
}

/** How calls through a proxy are counted. */
export interface StrangersOptions {
  /**
   * Whether proxies are trusted. Then the address is that of the client, and header fields of other proxies are
   * ignored.
   */
  readonly trustsProxies: boolean
  /**
   * Called with the proxy's address for each failed call that it forwards while no proxy is trusted; does nothing by
   * default.
   */
  readonly onUndeclared?: (proxy: string | null) => void
  /** Counts of the program's other gateway processes; none by default. */
  readonly counts?: SharedCounts
}

/** Limit of failed calls of one address within a minute. */
const WRONG_CALLS_PER_MINUTE = 600
/** Limit of an address that forwards calls while no proxy is trusted: all clients of a proxy share its address. */
const FORWARDED_WRONG_CALLS_PER_MINUTE = 6000
const WINDOW_MS = 60_000
/** Each takes some hundred bytes. */
const ADDRESSES_MAX = 50_000

interface Window {
  readonly startedAt: number
  count: number
  isOfProxy: boolean
}

/**
 * Creates the counter. The window of an address is fixed and starts with its first failed call. Refused calls do not
 * count, so a caller that waits for the time in `Retry-After` is served again.
 */
export function createStrangers(
  clock: Clock,
  { trustsProxies, onUndeclared = () => {}, counts = ALONE }: StrangersOptions,
): Strangers {
  const windows = new Map<string, Window>()
  const nowMs = () => clock.now().getTime()
  /** A window that begins later than now has ended, too: the clock was set back, and it would last as long as that. */
  const isOpen = (untilMs: number) => untilMs > nowMs() && untilMs <= nowMs() + WINDOW_MS
  const windowOf = (group: string): Window | undefined => {
    const window = windows.get(group)
    if (window === undefined || isOpen(window.startedAt + WINDOW_MS)) return window
    windows.delete(group)
    return undefined
  }
  const shareOf = (name: string, isOfProxy: boolean) =>
    counts.share(name, {
      max: boundOf(isOfProxy),
      read: (group) => {
        const window = windowOf(group)
        return window?.isOfProxy === isOfProxy ? window.count : 0
      },
      untilMs: (group) => (windows.get(group)?.startedAt ?? 0) + WINDOW_MS,
    })
  const shared = {
    direct: shareOf('failed calls', false),
    forwarded: shareOf('forwarded failed calls', true),
  }
  const othersOf = (group: string) => {
    const [direct, forwarded] = [shared.direct.others(group), shared.forwarded.others(group)]
    const untilMs = Math.max(direct.untilMs, forwarded.untilMs)
    return isOpen(untilMs)
      ? { count: direct.count + forwarded.count, untilMs, isOfProxy: forwarded.count > 0 }
      : { count: 0, untilMs: 0, isOfProxy: false }
  }
  const noteShared = (group: string, { count, isOfProxy }: Window) => {
    if (counts.processes === 1) return
    shared.forwarded.changed(group, isOfProxy ? count : 0)
    shared.direct.changed(group, isOfProxy ? 0 : count)
  }
  return {
    waitOf(address) {
      if (windows.size === 0 && counts.processes === 1) return undefined
      const group = groupOf(address)
      const window = windowOf(group)
      const others = othersOf(group)
      const bound = boundOf(others.isOfProxy || window?.isOfProxy === true)
      if (others.count + (window?.count ?? 0) < bound) return undefined
      const ownUntilMs = window === undefined ? 0 : window.startedAt + WINDOW_MS
      const untilMs = others.count < bound ? ownUntilMs : Math.max(ownUntilMs, others.untilMs)
      return Math.max(1, Math.ceil((untilMs - nowMs()) / 1000))
    },
    note(address, isForwarded) {
      const isOfProxy = isForwarded && !trustsProxies
      if (isOfProxy) onUndeclared(address)
      const group = groupOf(address)
      const window = windowOf(group)
      if (window !== undefined) {
        window.count += 1
        window.isOfProxy ||= isOfProxy
        noteShared(group, window)
        return
      }
      const opened = { startedAt: nowMs(), count: 1, isOfProxy }
      // Drops the oldest window: most old windows have ended.
      setNewest(windows, group, opened, ADDRESSES_MAX)
      noteShared(group, opened)
    },
  }
}

function boundOf(isOfProxy: boolean): number {
  return isOfProxy ? FORWARDED_WRONG_CALLS_PER_MINUTE : WRONG_CALLS_PER_MINUTE
}

function groupOf(address: string | null): string {
  return address === null ? '' : addressGroup(address)
}

const TURN_MS = 1000

let turn: Promise<void> | undefined

/**
 * Resolves at the end of the current second, for all strangers at once. Their queries then share statements, so that
 * many of them cost the database little.
 */
export function nextTurn(): Promise<void> {
  turn ??= new Promise((resolve) => {
    setTimeout(() => {
      turn = undefined
      resolve()
    }, TURN_MS)
  })
  return turn
}
