import type { z } from 'zod'
import type { EndpointChanges } from '../platform/changes/index.ts'
import type { Db } from '../platform/db/index.ts'
import { setNewest } from '../platform/memory/index.ts'
import { stateOf } from '../platform/stateOf.ts'
import {
  type Arrivals,
  findRecentAttempts,
  isEndpointThere,
  listStates,
  type RequestStateRow,
} from './followQueries.ts'
import type { RequestSummary } from './schema.ts'

/** Arrivals in the API's shape, converted once for all followers. */
export interface SeenArrivals extends Arrivals {
  readonly requests: z.output<typeof RequestSummary>[]
}

export interface Follower {
  /** Resolves when something changed since the last call, and at once if the stream has ended. */
  changed(): Promise<void>
  /** Lookups of arrived requests. Followers with the same key share them. */
  readonly arrivals: SharedLooks<SeenArrivals>
  isEndpointThere(): Promise<boolean>
  /** Looks for attempts that changed state, and adds their requests to {@link moved}. */
  lookForMoves(): Promise<void>
  /** States of the requests with the newest attempts. */
  recentStates(): Promise<readonly RequestStateRow[]>
  /** States of requests whose attempts changed. The follower removes those that it has sent. */
  readonly moved: Map<number, RequestStateRow>
  /** Number of followers of the endpoint in this process. */
  count(): number
  leave(): void
}

/**
 * Number of newest attempts of an endpoint among which changes are found, in addition to those known to be in flight.
 */
const WINDOW = 500

/** The most unsent changes of a slow follower; beyond them the oldest are dropped. */
const MOVED_MAX = 2_000

type Attempts = ReadonlyMap<number, { readonly state: string; readonly requestId: number }>

interface EndpointWatch {
  readonly arrivals: SharedLooks<SeenArrivals>
  readonly presence: SharedLooks<boolean>
  readonly moves: SharedLooks<void>
  readonly recent: SharedLooks<readonly RequestStateRow[]>
  readonly members: Set<{ readonly moved: Map<number, RequestStateRow> }>
  /** Number of changes so far. */
  changes: number
  /**
   * Callbacks of followers that wait for the next change. In a flood most are between two intervals and not among them.
   */
  waiting: (() => void)[]
  /** The attempts of the window at the last lookup; undefined before the first. */
  attempts: Attempts | undefined
  /** The latest lookup for moves. They run one after the other: each compares with the result of the one before. */
  lastLook: Promise<void>
  readonly stopListening: () => void
}

const watchesOf = stateOf<EndpointChanges, Map<string, EndpointWatch>>(() => new Map())

/** Adds a follower of an endpoint in this process. `ended` wakes it for the last time. */
export function joinFollowers(
  { db, endpointChanges }: { readonly db: Db; readonly endpointChanges: EndpointChanges },
  endpointId: string,
  ended: AbortSignal,
): Follower {
  const watches = watchesOf(endpointChanges)
  const watch = watches.get(endpointId) ?? startWatch(endpointChanges, endpointId)
  watches.set(endpointId, watch)

  // The first call of `changed` resolves at once: something may have changed before.
  let seenChanges = -1
  let resume = () => {}
  const end = () => resume()
  ended.addEventListener('abort', end, { once: true })
  const member = { moved: new Map<number, RequestStateRow>() }
  watch.members.add(member)
  return {
    arrivals: watch.arrivals,
    moved: member.moved,
    async changed() {
      if (seenChanges === watch.changes && !ended.aborted) {
        await new Promise<void>((resolve) => {
          resume = resolve
          watch.waiting.push(resolve)
        })
      }
      seenChanges = watch.changes
    },
    isEndpointThere: () => watch.presence.find('', () => isEndpointThere(db, endpointId)),
    lookForMoves: () =>
      watch.moves.find('', () => {
        const look = () => lookForMoves(db, endpointId, watch)
        watch.lastLook = watch.lastLook.then(look, look)
        return watch.lastLook
      }),
    recentStates: () =>
      watch.recent.find('', () => {
        const requestIds = [...(watch.attempts ?? new Map()).values()].map(({ requestId }) => requestId)
        return listStates(db, endpointId, [...new Set(requestIds)])
      }),
    count: () => watch.members.size,
    leave() {
      watch.members.delete(member)
      ended.removeEventListener('abort', end)
      if (watch.members.size > 0) return
      watch.stopListening()
      if (watches.get(endpointId) === watch) watches.delete(endpointId)
    },
  }
}

function startWatch(endpointChanges: EndpointChanges, endpointId: string): EndpointWatch {
  const watch: EndpointWatch = {
    arrivals: sharedLooks(),
    presence: sharedLooks(),
    moves: sharedLooks(),
    recent: sharedLooks(),
    members: new Set(),
    changes: 0,
    waiting: [],
    attempts: undefined,
    lastLook: Promise.resolve(),
    stopListening: endpointChanges.onEndpoint(endpointId, () => {
      for (const looks of [watch.arrivals, watch.presence, watch.moves, watch.recent]) looks.clear()
      watch.changes += 1
      for (const resume of watch.waiting.splice(0)) resume()
    }),
  }
  return watch
}

async function lookForMoves(db: Db, endpointId: string, watch: EndpointWatch): Promise<void> {
  const before = watch.attempts
  const underWay = [...(before ?? [])].flatMap(([id, { state }]) => (state === 'Pending' ? [id] : []))
  const rows = await findRecentAttempts(db, endpointId, WINDOW, underWay)
  watch.attempts = new Map(rows.map(({ id, state, requestId }) => [id, { state, requestId }]))
  // The first lookup has nothing to compare with.
  if (before === undefined) return
  const changed = rows.filter(({ id, state }) => before.get(id)?.state !== state)
  if (changed.length === 0) return
  const requestIds = new Set(changed.map(({ requestId }) => requestId))
  for (const row of await listStates(db, endpointId, [...requestIds])) {
    for (const { moved } of watch.members) setNewest(moved, row.id, row, MOVED_MAX)
  }
}

/** Lookups that concurrent readers share: all readers with the same key get the result of the first lookup. */
interface SharedLooks<Found> {
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
