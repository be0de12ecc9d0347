import type { Context } from '../api/context.ts'
import { sleep } from '../platform/time/index.ts'

const MIB = 1024 * 1024

/** Octets of captures that streams of one process may hold for readers that have not taken them. */
export const UNREAD_BYTES_MAX = { key: 8 * MIB, workspace: 16 * MIB, all: 32 * MIB } as const

/** A stream that finds no room waits for so long that others take what they have. */
const ROOM_WAIT_MS = 2_000
/** A reader that leaves an event unread for so long, where others find no room, is slow. */
const SLOW_MS = 1_000

/** What one stream holds of what its reader has not taken. */
export interface UnreadHolder {
  /**
   * Takes room for the next event. What the stream held before is free then: its reader has taken it.
   *
   * @param bytes of what the event carries; an event that is longer than a bound fits alone
   * @returns false where there is no room: the reader is to read pages. The slowest of those that hold something is told so with
   *   its next event
   */
  take(bytes: number): Promise<boolean>
  /** The stream has ended. */
  leave(): void
}

interface Holding {
  /** Of its latest events, the oldest first. */
  readonly events: number[]
  bytes: number
  /** When it took the last event, by `performance.now()`. */
  since: number
  isTold: boolean
}

interface Scope {
  bytes: number
  readonly holdings: Set<Holding>
}

const scopes = new Map<string, Scope>()
/** Resolves with the next room that becomes free. */
let freed = Promise.withResolvers<void>()

/**
 * Joins the streams of this process that share {@link UNREAD_BYTES_MAX}.
 *
 * @param ended when it aborts, nothing is held any more
 */
export function holdUnread(
  { callerId, workspace, eventsAhead }: Pick<Context, 'callerId' | 'workspace' | 'eventsAhead'>,
  ended: AbortSignal,
): UnreadHolder {
  const bounds = [
    { name: `key ${callerId}`, max: UNREAD_BYTES_MAX.key },
    { name: `workspace ${workspace.id}`, max: UNREAD_BYTES_MAX.workspace },
    { name: 'all', max: UNREAD_BYTES_MAX.all },
  ]
  const holding: Holding = { events: [], bytes: 0, since: 0, isTold: false }

  const change = (bytes: number) => {
    holding.bytes += bytes
    for (const { name } of bounds) {
      const scope = scopes.get(name) ?? { bytes: 0, holdings: new Set() }
      scope.bytes += bytes
      if (holding.bytes > 0) scope.holdings.add(holding)
      else scope.holdings.delete(holding)
      if (scope.holdings.size > 0) scopes.set(name, scope)
      else scopes.delete(name)
    }
    if (bytes >= 0) return
    freed.resolve()
    freed = Promise.withResolvers()
  }
  const keep = (count: number) => {
    const taken = holding.events.splice(0, Math.max(0, holding.events.length - count))
    const bytes = taken.reduce((sum, one) => sum + one, 0)
    if (bytes > 0) change(-bytes)
  }
  /** Whether a scope is without room; its slowest holder is told. */
  const isFull = (bytes: number) => {
    const full = bounds.flatMap(({ name, max }) => {
      const scope = scopes.get(name)
      return scope !== undefined && scope.bytes + bytes > max ? [scope] : []
    })
    for (const { holdings } of full) {
      const [slowest] = [...holdings].sort((left, right) => left.since - right.since)
      if (slowest !== undefined && performance.now() - slowest.since > SLOW_MS) slowest.isTold = true
    }
    return full.length > 0
  }

  const leave = () => keep(0)
  ended.addEventListener('abort', leave, { once: true })
  return {
    leave,
    async take(bytes) {
      keep(eventsAhead)
      if (holding.isTold) return false
      for (const deadline = performance.now() + ROOM_WAIT_MS; isFull(bytes) && !holding.isTold; ) {
        const left = deadline - performance.now()
        if (left <= 0 || ended.aborted) return false
        await Promise.race([freed.promise, sleep(left)])
      }
      if (ended.aborted || holding.isTold) return false
      holding.events.push(bytes)
      holding.since = performance.now()
      change(bytes)
      return true
    },
  }
}
