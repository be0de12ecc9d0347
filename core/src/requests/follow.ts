import { setTimeout as sleep } from 'node:timers/promises'
import { type TrackedEnvelope, tracked } from '@trpc/server'
import { z } from 'zod'
import type { Context } from '../api/context.ts'
import type { EventOf } from '../api/contract.ts'
import { notFound } from '../api/errors.ts'
import { Int64 } from '../api/values.ts'
import type { EndpointRow } from '../endpoints/index.ts'
import { REQUEST_STATES } from '../engine/words/index.ts'
import { whenAborted } from '../platform/time/index.ts'
import type { OpenStream } from '../streams/index.ts'
import { type Follower, joinFollowers, type SeenArrivals } from './endpointWatch.ts'
import {
  ARRIVALS_MAX,
  type Arrivals,
  BEHIND_MAX,
  listArrivals,
  newestArrivals,
  newestRequestId,
  type RequestStateRow,
} from './followQueries.ts'
import { DeliveryCounts, type RequestFilters, RequestSummary, WholeRequest } from './schema.ts'
import { outcomeOf } from './state.ts'
import { summaryView } from './view.ts'

const RequestState = z.object({
  id: Int64,
  state: z.enum(REQUEST_STATES),
  attemptCount: z.int(),
  deliveryCounts: DeliveryCounts,
})

/** Schemas of the events of a follow stream. */
export const followEvents = {
  arrived: z
    .object({ requests: z.array(RequestSummary).max(100) })
    .describe('Requests that match, oldest first'),
  captured: z
    .object({ requests: z.array(WholeRequest).max(100) })
    .describe('With `whole`, in place of `arrived`: the same requests with target, headers and body'),
  passed: z.object({ count: z.int() }).describe('With filters: the number of new requests that do not match'),
  changed: z
    .object({ states: z.array(RequestState) })
    .describe('Changed deliveries; also of requests that the filters skip'),
  replay: z
    .object({ replayId: Int64, requestId: Int64 })
    .describe('With `listener`: a replay of this request to the local server was requested'),
  behind: z
    .object({
      lastId: Int64,
      requests: z
        .array(RequestSummary)
        .max(100)
        .optional()
        .describe('With `newest`: the newest, oldest first'),
      totalCount: z.int().optional().describe('With `newest`: number of stored requests'),
    })
    .describe(
      `More than ${BEHIND_MAX} new requests: read them by \`afterId\`; the stream continues after \`lastId\`. With \`whole\`: the reader is too slow and the stream ends. Read the requests up to \`lastId\` by \`afterId\``,
    ),
}

/** One event of a follow stream, with the request id to resume after. */
export type FollowEvent = TrackedEnvelope<EventOf<typeof followEvents>>

interface Following {
  readonly filters: Omit<RequestFilters, 'afterId'>
  /**
   * Whether a follower that is too far behind is sent the newest requests and need not read pages; only without
   * filters.
   */
  readonly wantsNewest: boolean
  /** Last request that the follower has. The stream continues after it; undefined begins now. */
  readonly afterId: number | undefined
}

/**
 * Follows the requests of an endpoint and the states of their deliveries. Once it resolves, no later capture is missed,
 * and none after `afterId`.
 *
 * @returns events until the stream ends; throws `not_found` as soon as the endpoint is deleted
 */
export async function followRequests(
  ctx: Context,
  endpoint: EndpointRow,
  { filters, afterId, wantsNewest }: Following,
  stream: OpenStream,
): Promise<AsyncGenerator<FollowEvent, void>> {
  const hasFilters = Object.values(filters).some((value) => value !== undefined)
  const follower = joinFollowers(ctx, endpoint.id, stream.ended)
  // If the reader hangs up before the first event, the generator never runs and cannot leave.
  whenAborted(stream.ended, () => follower.leave())
  await follower.lookForMoves()
  if (afterId !== undefined) for (const row of await follower.recentStates()) follower.moved.set(row.id, row)
  const after = afterId ?? (await newestRequestId(ctx.db, endpoint.id))
  return events(ctx, endpoint, {
    filters,
    hasFilters,
    wantsNewest: wantsNewest && !hasFilters,
    after,
    follower,
    stream,
  })
}

interface Followed extends Omit<Following, 'afterId'> {
  readonly hasFilters: boolean
  readonly after: number
  readonly follower: Follower
  readonly stream: OpenStream
}

async function* events(
  ctx: Context,
  endpoint: EndpointRow,
  { filters, hasFilters, wantsNewest, after: begin, follower, stream }: Followed,
): AsyncGenerator<FollowEvent, void> {
  const asked = JSON.stringify([filters, wantsNewest])
  let after = begin
  try {
    for (;;) {
      await follower.changed()
      stream.throwIfRefused()
      if (stream.ended.aborted) return
      await follower.lookForMoves()
      if (!(await follower.isEndpointThere())) throw notFound('endpoint')
      const sent = { events: 0, requests: 0, isBehind: false }
      let arrivals: SeenArrivals
      do {
        const afterId = after
        const newestFrom = wantsNewest ? sentWholeMax(follower.count()) : undefined
        const look = () => lookForArrivals(ctx, endpoint, { filters, newestFrom }, afterId)
        arrivals = await follower.arrivals.find(`${afterId} ${asked}`, look)
        after = arrivals.lastId
        sent.events += 1
        sent.requests += arrivals.rows.length
        sent.isBehind ||= arrivals.isBehind && !wantsNewest
        forgetKnown(follower.moved, arrivals)
        if (arrivals.isBehind) {
          const { requests, totalCount } = arrivals
          const newest = wantsNewest ? { requests, totalCount } : {}
          yield tracked(String(after), { kind: 'behind', lastId: after, ...newest })
        } else if (arrivals.rows.length > 0) {
          yield tracked(String(after), { kind: 'arrived', requests: arrivals.requests })
        }
        if (hasFilters && arrivals.passedCount > 0) {
          yield tracked(String(after), { kind: 'passed', count: arrivals.passedCount })
        }
      } while (arrivals.hasMore && !stream.ended.aborted)
      const states = takeStates(follower.moved, after)
      if (states.length > 0) yield tracked(String(after), { kind: 'changed', states })
      const beat = beatMilliseconds(follower.count(), sent)
      await sleep(beat - (performance.now() % beat), undefined, { signal: stream.ended }).catch(() => {})
    }
  } finally {
    follower.leave()
  }
}

async function lookForArrivals(
  { db }: Pick<Context, 'db'>,
  endpoint: EndpointRow,
  { filters, newestFrom }: { filters: Followed['filters']; newestFrom: number | undefined },
  afterId: number,
): Promise<SeenArrivals> {
  const arrivals = await listArrivals(db, endpoint.id, { ...filters, afterId }, newestFrom)
  const found =
    arrivals.isBehind && newestFrom !== undefined
      ? { ...arrivals, ...(await newestArrivals(db, endpoint.id, arrivals.lastId)) }
      : arrivals
  const requests = found.rows.map((row) => RequestSummary.parse(summaryView(row, endpoint.id)))
  return { ...found, requests }
}

/** Drops changes that the arrivals already include. */
function forgetKnown(moved: Map<number, RequestStateRow>, { rows }: Arrivals): void {
  for (const row of rows) {
    const change = moved.get(row.id)
    if (change === undefined) continue
    const [changed, known] = [outcomeOf(change), outcomeOf(row)]
    const isNewer =
      changed.attemptCount > known.attemptCount ||
      (changed.attemptCount === known.attemptCount &&
        (changed.deliveryCounts.waiting < known.deliveryCounts.waiting ||
          (known.state === 'Pending' && changed.state !== 'Pending')))
    if (!isNewer) moved.delete(row.id)
  }
}

/** Takes the states of requests that the follower has. The others are sent with their arrival. */
function takeStates(moved: Map<number, RequestStateRow>, lastId: number) {
  const states = [...moved.values()].filter(({ id }) => id <= lastId)
  for (const { id } of states) moved.delete(id)
  return states.map((row) => ({ id: row.id, ...outcomeOf(row) }))
}

/** Changes within this time are coalesced into one event: 200 captures a second are ten events a second. */
const BEAT_MILLISECONDS = 100
/** The longest interval between the events of a follower, however many there are. */
const BEAT_MILLISECONDS_MAX = 25_600
/** Fraction of one processor core that all followers of one endpoint may use in this process. */
const SHARE = 0.1
/**
 * Estimated processor time, rounded up: of an event, of each request in it, and of a page that a follower behind reads.
 */
const COST_MILLISECONDS = { event: 0.2, request: 0.008, page: 5 } as const

/** Volume that one follower was sent in one interval. */
interface SentInBeat {
  readonly events: number
  readonly requests: number
  /** Whether it was sent `behind`, after which it reads pages. */
  readonly isBehind: boolean
}

/**
 * The interval over which events are coalesced. A few followers get events ten times a second. The interval grows with
 * their number and with the volume for each, so that all of them together use at most a tenth of a core: captures come
 * first. Intervals double, and are aligned, so that followers still share lookups.
 *
 * @param sent estimate of the volume for each follower
 * @returns milliseconds: 100 times a power of two
 */
export function beatMilliseconds(followerCount: number, { events, requests, isBehind }: SentInBeat): number {
  const cost =
    events * COST_MILLISECONDS.event +
    requests * COST_MILLISECONDS.request +
    (isBehind ? COST_MILLISECONDS.page : 0)
  const beats = (followerCount * cost) / SHARE / BEAT_MILLISECONDS
  const doubled = BEAT_MILLISECONDS * 2 ** Math.ceil(Math.log2(Math.max(1, beats)))
  return Math.min(BEAT_MILLISECONDS_MAX, doubled)
}

/**
 * The most requests that a follower of the newest is sent one by one. Beyond that it is sent only the newest. With ten
 * or more followers it is the number in one event, to leave processor time for captures.
 */
export function sentWholeMax(followerCount: number): number {
  return Math.max(ARRIVALS_MAX, Math.floor(BEHIND_MAX / followerCount))
}
