import { hasAnswered, hasNotAnswered } from '../outage.ts'
import { type Answers, creel, type RequestSummary, statusOf } from '../trpc.ts'
import type { Filters } from '../words/grammar.ts'
import { BAR_MS, BARS, type Bar, type RejectedBars } from './bars.ts'
import { hearStreamError, readFailedAnew } from './queryClient.ts'
import { holdSeat, tabs } from './seats.ts'

/** Members of a request that change with its deliveries. */
export type RequestOutcome = Pick<RequestSummary, 'id' | 'state' | 'attemptCount' | 'deliveryCounts'>

type Told<Kind extends string> = Extract<
  Answers['requests']['follow'] extends AsyncIterable<{ data: infer Data }> ? Data : never,
  { kind: Kind }
>

/** An event of the stream. The stream resumes after `lastId`, the highest id that was examined. */
export type FollowEvent =
  | (Told<'arrived' | 'passed'> & { readonly lastId: number })
  | Told<'behind' | 'changed'>

/** Callbacks, which end with the subscription. */
export interface Follower {
  hear(event: FollowEvent): void
  /** Reports whether the stream is connected. */
  connected(isLive: boolean): void
  /** The stream has ended; its owner reconnects. `status` is set if the service refused it. */
  ended(status: number | undefined): void
}

/** Position from which older captures are read: an id, or the cursor of a page. */
export type Below = { readonly beforeId: number } | { readonly before: string }

/**
 * A page of captures, newest first, and the position of the next page; null when there is none. A page may be empty
 * although more follow.
 */
export interface Loaded {
  readonly items: readonly RequestSummary[]
  readonly below: Below | null
}

/** Source of a list of captures. */
export interface CaptureSource {
  /** The newest captures that match, and the total number. No match up to `lastId` is missing. */
  newest(limit: number): Promise<
    Loaded & {
      readonly totalCount: number
      readonly isEstimate: boolean
      /** Whether text was searched that is encrypted in some captures, which the search does not find. */
      readonly omitsSealed: boolean
      readonly lastId: number
    }
  >
  /** The next page of older captures. */
  older(below: Below, limit: number): Promise<Loaded>
  /**
   * Captures since `from` (milliseconds since 1970), a bar for each five seconds; empty when a search narrows the list.
   */
  traffic(from: number): Promise<Traffic>
  /** Follows everything after `afterId`, live. Returns the function that unsubscribes. */
  follow(afterId: number, follower: Follower): () => void
}

/** The service's counts for each bar, oldest first. */
export interface Traffic {
  readonly bars: readonly Bar[]
  readonly rejected: RejectedBars
}

/** The captures of an endpoint, from the API. */
export function captureSource(endpointId: string, filters: Filters): CaptureSource {
  const isFiltered = Object.values(filters).some((value) => value !== undefined)
  return {
    async newest(limit) {
      // Read first, so that captures that arrive between the two calls are not skipped.
      const before = isFiltered ? await creel.requests.list.query({ endpointId, page: 1, pageSize: 1 }) : null
      const list = await creel.requests.list.query({ endpointId, ...filters, partial: true, pageSize: limit })
      const below = list.next === null ? null : { before: list.next }
      const isEstimate = list.search?.complete === false
      return {
        ...list,
        below,
        isEstimate,
        omitsSealed: list.search?.sealed === true,
        lastId: Math.max(0, before?.items[0]?.id ?? 0, list.items[0]?.id ?? 0),
      }
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
      if (isFiltered) return { bars: [], rejected: new Map() }
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
      // Each turn resumes where the one before ended.
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
              if (state === 'pending') {
                hasAnswered()
                readFailedAnew()
              } else if (error !== null) hasNotAnswered()
              // The start of a further turn is not a lost connection.
              if (state === 'pending' || !isLive || error !== null) {
                isLive = state === 'pending'
                follower.connected(isLive)
              }
            },
            // An EventSource gives up at the first answer that is not 200, and the client gives up when the server ends
            // the stream.
            onError: (error) => {
              hearStreamError(error)
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
