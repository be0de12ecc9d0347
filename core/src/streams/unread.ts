import type { Context } from '../api/context.ts'
import { restFor } from '../platform/time/index.ts'

const MIB = 1024 * 1024

/** Bytes of captures that streams of one process may hold for readers that have not read them. */
const UNREAD_BYTES_MAX = { key: 8 * MIB, workspace: 16 * MIB, all: 32 * MIB } as const

/** Maximum wait of a stream without room, for other readers to read their events. */
const ROOM_WAIT_MS = 2_000
/** A reader that leaves an event unread for this long, while others have no room, counts as slow. */
const SLOW_MS = 1_000

/** The unread bytes of one stream. */
export interface UnreadHolder {
  /**
   * Takes room for the next event. Releases the stream's earlier bytes: its reader has read them.
   *
   * @param bytes size of the event's data; an event larger than a limit fits if it is alone
   * @returns false if there is no room: the reader must read pages instead. If the holder with the oldest unread event
   *   is slow, it gets false for its next event, too
   */
  take(bytes: number): Promise<boolean>
  /** Call when the stream has ended. */
  leave(): void
}

interface Holding {
  /** Sizes of its latest events, oldest first. */
  readonly events: number[]
  bytes: number
  /** When the last event was taken, by `performance.now()`. */
  since: number
  isTold: boolean
}

interface Scope {
  bytes: number
  readonly holdings: Set<Holding>
}

const scopes = new Map<string, Scope>()
/** Resolves when room is released. */
let freed = Promise.withResolvers<void>()

/**
 * Adds a stream to those of this process that share {@link UNREAD_BYTES_MAX}.
 *
 * @param ended releases everything when it aborts
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
  /** Whether a scope has no room; then its slowest holder is marked. */
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
        await Promise.race([freed.promise, restFor(left)])
      }
      if (ended.aborted || holding.isTold) return false
      holding.events.push(bytes)
      holding.since = performance.now()
      change(bytes)
      return true
    },
  }
}
