import type { z } from 'zod'
import type { EndpointChanges } from '../platform/changes/index.ts'
import type { Db } from '../platform/db/index.ts'
import {
  type Arrivals,
  findRecentAttempts,
  isEndpointThere,
  listStates,
  type RequestStateRow,
} from './followQueries.ts'
import type { RequestSummary } from './schema.ts'
import { type SharedLooks, sharedLooks } from './sharedLooks.ts'

/** What arrived, in the words of the API: put into them once for all followers. */
export interface SeenArrivals extends Arrivals {
  readonly requests: z.output<typeof RequestSummary>[]
}

/** One of those who follow an endpoint, with what it shares with the others. */
export interface Follower {
  /** Resolves when something changed since the last call, and at once when the stream ended. */
  changed(): Promise<void>
  /** Looks for requests that arrived; shared by followers that ask with the same key. */
  readonly arrivals: SharedLooks<SeenArrivals>
  isEndpointThere(): Promise<boolean>
  /** Looks for attempts that moved: what the follower has not seen yet is in {@link moved} then. */
  lookForMoves(): Promise<void>
  /** Where the requests with the newest attempts stand. */
  recentStates(): Promise<readonly RequestStateRow[]>
  /** States of requests whose attempts moved; the follower takes out what it has passed on. */
  readonly moved: Map<number, RequestStateRow>
  /** How many follow the endpoint in this process. */
  count(): number
  leave(): void
}

/** Changes are found among so many attempts: the newest of the endpoint, and those seen under way. */
const WINDOW = 500

/** Changes that a slow follower may be behind with; the oldest are forgotten beyond it. */
const MOVED_MAX = 2_000

type Attempts = ReadonlyMap<number, { readonly state: string; readonly requestId: number }>

/** What the followers of one endpoint share. */
interface EndpointWatch {
  readonly arrivals: SharedLooks<SeenArrivals>
  readonly presence: SharedLooks<boolean>
  readonly moves: SharedLooks<void>
  readonly recent: SharedLooks<readonly RequestStateRow[]>
  readonly members: Set<{ readonly moved: Map<number, RequestStateRow> }>
  /** How often something changed. */
  changes: number
  /** Those who wait for the next change; in a flood most rest, and cost nothing. */
  waiting: (() => void)[]
  /** The attempts of the window as they were at the last look; undefined before the first. */
  attempts: Attempts | undefined
  /** Looks for moves go one after the other: each compares with what the one before has seen. */
  lastLook: Promise<void>
  readonly stopListening: () => void
}

const watches = new WeakMap<EndpointChanges, Map<string, EndpointWatch>>()

/** Joins those who follow an endpoint in this process; `ended` wakes the follower for the last time. */
export function joinFollowers(
  { db, endpointChanges }: { readonly db: Db; readonly endpointChanges: EndpointChanges },
  endpointId: string,
  ended: AbortSignal,
): Follower {
  const ofProcess = watches.get(endpointChanges) ?? new Map<string, EndpointWatch>()
  watches.set(endpointChanges, ofProcess)
  const watch = ofProcess.get(endpointId) ?? startWatch(endpointChanges, endpointId)
  ofProcess.set(endpointId, watch)

  // There may be something from before it joined.
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
      if (ofProcess.get(endpointId) === watch) ofProcess.delete(endpointId)
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
  // What stood when the first follower came is no change.
  if (before === undefined) return
  const changed = rows.filter(({ id, state }) => before.get(id)?.state !== state)
  if (changed.length === 0) return
  const requestIds = new Set(changed.map(({ requestId }) => requestId))
  for (const row of await listStates(db, endpointId, [...requestIds])) {
    for (const { moved } of watch.members) {
      // The newest change last: when there are too many, the oldest goes.
      moved.delete(row.id)
      moved.set(row.id, row)
      const [oldest] = moved.keys()
      if (moved.size > MOVED_MAX && oldest !== undefined) moved.delete(oldest)
    }
  }
}
