import type { RequestState } from '@creel/core/engine/words'
import { creel, type RequestSummary, statusOf } from '../trpc.ts'
import type { Filters } from '../words/grammar.ts'
import { BAR_MS, BARS, type Bar, type RejectedBars } from './bars.ts'
import { readFailedAnew } from './queryClient.ts'
import { holdSeat, tabs } from './seats.ts'
import { hearStatus } from './session.ts'

/** What a stream tells. */
export type FollowEvent =
  | {
      readonly kind: 'arrived'
      /** Oldest first. */
      readonly requests: readonly RequestSummary[]
      /** The highest id that was looked at: where to resume. */
      readonly lastId: number
    }
  | {
      readonly kind: 'changed'
      readonly states: readonly {
        readonly id: number
        readonly state: RequestState
        readonly attemptCount: number
      }[]
    }
  /** So many came that do not match; `lastId` is where to resume. */
  | { readonly kind: 'passed'; readonly count: number; readonly lastId: number }
  /** Too much came meanwhile to be streamed: read the list anew. */
  | {
      readonly kind: 'behind'
      readonly lastId: number
      /** The newest, oldest first; where a search narrows the list they are to be read. */
      readonly requests?: readonly RequestSummary[] | undefined
      readonly totalCount?: number | undefined
    }

/** Who follows: called until the answer of `follow` is. */
export interface Follower {
  hear(event: FollowEvent): void
  /** Whether the connection stands. */
  connected(isLive: boolean): void
  /** The stream is over; its owner comes back. `status` where the service refused. */
  ended(status: number | undefined): void
}

/** From where downwards older captures are read: by an id, or by the cursor of a page. */
export type Below = { readonly beforeId: number } | { readonly before: string }

/** Some captures, newest first, and from where others follow; null when none do. There may be some although none came yet. */
export interface Loaded {
  readonly items: readonly RequestSummary[]
  readonly below: Below | null
}

/** Where a list of captures gets them from. */
export interface CaptureSource {
  /** The newest captures that match, and how many do. Up to `lastId` nothing that matches is missing. */
  newest(limit: number): Promise<Loaded & { totalCount: number; lastId: number }>
  /** Those further down. */
  older(below: Below, limit: number): Promise<Loaded>
  /** What arrived since `from` (milliseconds since 1970), a bar for each five seconds; nothing where a search narrows the list. */
  traffic(from: number): Promise<Traffic>
  /** Everything that comes after `afterId`, as it comes. */
  follow(afterId: number, follower: Follower): () => void
}

/** What the service counted in each bar, oldest first. */
export interface Traffic {
  readonly bars: readonly Bar[]
  readonly rejected: RejectedBars
}

/** The captures of an endpoint, by the API. */
export function captureSource(endpointId: string, filters: Filters): CaptureSource {
  return {
    async newest(limit) {
      const isFiltered = Object.values(filters).some((value) => value !== undefined)
      // First, so that nothing that comes between the two calls is passed over.
      const before = isFiltered ? await creel.requests.list.query({ endpointId, page: 1, pageSize: 1 }) : null
      const list = await creel.requests.list.query({ endpointId, ...filters, page: 1, pageSize: limit })
      const below = list.next === null ? null : { before: list.next }
      return { ...list, below, lastId: Math.max(0, before?.items[0]?.id ?? 0, list.items[0]?.id ?? 0) }
    },
    async older(below, limit) {
      const { items, nextBeforeId } = await creel.requests.older.query({
        endpointId,
        ...filters,
        ...below,
        limit,
      })
      return { items, below: nextBeforeId === null ? null : { beforeId: nextBeforeId } }
    },
    async traffic(from) {
      if (Object.values(filters).some((value) => value !== undefined))
        return { bars: [], rejected: new Map() }
      const period = { from: new Date(from).toISOString(), to: new Date(from + BARS * BAR_MS).toISOString() }
      const { buckets } = await creel.endpoints.traffic.query({ endpointId, ...period, buckets: BARS })
      const first = from / BAR_MS
      const bars = buckets.map(({ capturedCount, failedCount }, index) => {
        const bad = Math.min(capturedCount, failedCount)
        return { at: first + index, good: capturedCount - bad, bad }
      })
      const rejected = buckets.flatMap(({ rejectedCount }, index) =>
        rejectedCount > 0 ? [[first + index, rejectedCount] as const] : [],
      )
      return { bars, rejected: new Map(rejected) }
    },
    follow(afterId, follower) {
      // Each turn goes on where the one before ended.
      let lastId = afterId
      let isLive = false
      const start = () => {
        const { unsubscribe } = creel.requests.follow.subscribe(
          { endpointId, ...filters, lastEventId: String(lastId), newest: true },
          {
            onData: ({ id, data }) => {
              lastId = Math.max(lastId, Number(id))
              if (data.kind === 'arrived' || data.kind === 'passed')
                follower.hear({ ...data, lastId: Number(id) })
              else if (data.kind === 'changed' || data.kind === 'behind') follower.hear(data)
            },
            onConnectionStateChange: ({ state, error }) => {
              if (state === 'pending') readFailedAnew()
              // The begin of another turn is no loss of the connection.
              if (state === 'pending' || !isLive || error !== null) {
                isLive = state === 'pending'
                follower.connected(isLive)
              }
            },
            // An EventSource gives up at the first answer that is not 200, and the client when the server ends the stream.
            onError: (error) => {
              hearStatus(statusOf(error))
              follower.ended(statusOf(error))
            },
            onComplete: () => follower.ended(undefined),
          },
        )
        return unsubscribe
      }
      return holdSeat(start, tabs)
    },
  }
}
