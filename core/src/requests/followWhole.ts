import { tracked } from '@trpc/server'
import { sql } from 'kysely'
import type { Context } from '../api/context.ts'
import { notFound } from '../api/errors.ts'
import type { EndpointRow } from '../endpoints/index.ts'
import { findAskedReplays, joinListeners, newReplaysFrom } from '../listeners/index.ts'
import { changesOf } from '../platform/changes/index.ts'
import type { Db } from '../platform/db/index.ts'
import { countPiece } from '../platform/memory/index.ts'
import { whenAborted } from '../platform/time/index.ts'
import { holdUnread, type OpenStream, type UnreadHolder } from '../streams/index.ts'
import { applyFilters } from './filters.ts'
import type { FollowEvent } from './follow.ts'
import { ARRIVALS_MAX, type ArrivalFilters, isEndpointThere, newestRequestId } from './followQueries.ts'
import { type RequestRow, summaries } from './queries.ts'
import { type RequestFilters, WholeRequest } from './schema.ts'
import { detailView } from './view.ts'

/**
 * Follows an endpoint for clients that forward its captures: whole requests, oldest first, as soon as they are
 * committed. The reader sets the pace: the next requests are read once it has taken the sent ones. If the unread bytes
 * of all streams exceed their limit, the slowest streams are sent `behind` and end. The id of that event is that of the
 * event before, so that a reader which only reconnects misses nothing.
 *
 * @returns events until the stream ends; throws `not_found` as soon as the endpoint is deleted
 */
export async function followWhole(
  ctx: Context,
  endpoint: EndpointRow,
  following: Following,
  stream: OpenStream,
): Promise<AsyncGenerator<FollowEvent, void>> {
  if (following.isListener) await joinListeners(ctx, endpoint.id, stream.ended)
  const changes = changesOf(ctx, endpoint.id, stream.ended)
  // If the reader hangs up before the first event, the generator never runs.
  whenAborted(stream.ended, changes.stop)
  const unread = holdUnread(ctx, stream.ended)
  const after = following.afterId ?? (await newestRequestId(ctx.db, endpoint.id))
  const replaysAfter = following.isListener
    ? await newReplaysFrom(ctx.db, endpoint.id, ctx.clock.now())
    : undefined
  return events(ctx, endpoint, { filters: following.filters, after, replaysAfter, stream, changes, unread })
}

interface Following {
  readonly filters: Omit<RequestFilters, 'afterId'>
  readonly afterId: number | undefined
  /** Whether it is a `creel listen`, which counts as connected and is sent replays. */
  readonly isListener: boolean
}

interface Followed {
  readonly filters: Omit<RequestFilters, 'afterId'>
  readonly after: number
  /** Replays with a greater id are sent; undefined sends none. */
  readonly replaysAfter: number | undefined
  readonly stream: OpenStream
  readonly changes: ReturnType<typeof changesOf>
  readonly unread: UnreadHolder
}

async function* events(
  ctx: Context,
  endpoint: EndpointRow,
  { filters, after: begin, replaysAfter, stream, changes, unread }: Followed,
): AsyncGenerator<FollowEvent, void> {
  let after = begin
  let lastReplay = replaysAfter
  try {
    for (;;) {
      stream.throwIfRefused()
      if (stream.ended.aborted) return
      let hasMore = true
      while (hasMore && !stream.ended.aborted) {
        const arrivals = await listWholeArrivals(
          ctx.db,
          endpoint.id,
          { ...filters, afterId: after },
          unread.take,
        )
        if (stream.ended.aborted) return
        if (arrivals.isBehind) {
          yield tracked(String(after), { kind: 'behind', lastId: arrivals.newestId })
          return
        }
        after = arrivals.lastId
        hasMore = arrivals.hasMore
        if (arrivals.rows.length === 0) continue
        const requests = arrivals.rows.map((row) =>
          WholeRequest.parse(detailView(row, { endpoint, urls: ctx.urls, deliveries: [] })),
        )
        yield tracked(String(after), { kind: 'captured', requests })
      }
      if (lastReplay !== undefined) {
        for (const { id: replayId, requestId } of await findAskedReplays(ctx.db, endpoint.id, lastReplay)) {
          lastReplay = replayId
          yield tracked(String(after), { kind: 'replay', replayId, requestId })
        }
      }
      if (!(await isEndpointThere(ctx.db, endpoint.id))) throw notFound('endpoint')
      await changes.next()
    }
  } finally {
    unread.leave()
  }
}

/** The most bytes of the headers and bodies of one event. One request is sent whatever its size. */
const ARRIVAL_BYTES_MAX = 1_048_576

/** Garbage of reading a long capture, in its sizes: the database's hexadecimal text, the JSON texts, and the octets. */
const COPIES = 6

/** Whole requests that arrived after a given one, oldest first. */
interface WholeArrivals {
  readonly rows: readonly RequestRow[]
  /** Every request up to this id was looked at, also those that do not match. */
  readonly lastId: number
  readonly hasMore: boolean
  /** The next requests found no room: `rows` is empty, and the reader must read pages up to `newestId`. */
  readonly isBehind: boolean
  readonly newestId: number
}

/**
 * Reads requests that arrived after `afterId`, as many as fit into one event and at least one. Ids are in the order of
 * commits, so no request can appear later below an id that was seen.
 *
 * @param takeRoom reserves memory for bytes before they are read; false if there is none
 */
async function listWholeArrivals(
  db: Db,
  endpointId: string,
  filters: ArrivalFilters,
  takeRoom: (bytes: number) => Promise<boolean>,
): Promise<WholeArrivals> {
  const newestId = await newestRequestId(db, endpointId)
  const { afterId } = filters
  const nothing = { rows: [], lastId: afterId, hasMore: false, isBehind: false, newestId }
  if (newestId <= afterId) return nothing
  const found = await applyFilters(summaries(db, endpointId).clearSelect(), filters)
    .select([
      'r.id',
      sql<number>`octet_length(r.body) + octet_length(r.header_values) + coalesce(octet_length(r.sealed), 0)`.as(
        'bytes',
      ),
    ])
    .where('r.id', '<=', newestId)
    .orderBy('r.id', 'asc')
    .limit(ARRIVALS_MAX)
    .execute()
  const { ids, bytes } = fitting(found)
  if (ids.length > 0 && !(await takeRoom(bytes))) return { ...nothing, isBehind: true }
  const rows =
    ids.length === 0
      ? []
      : await summaries(db, endpointId)
          .select(['r.queryString', 'r.headerNames', 'r.headerValues', 'r.body'])
          .where('r.id', 'in', ids)
          .orderBy('r.id', 'asc')
          .execute()
  // Only one long capture exceeds the limit. Ordinary events are left to the engine's own garbage collection.
  if (bytes > ARRIVAL_BYTES_MAX) countPiece(bytes * COPIES)
  const isWhole = ids.length === found.length && found.length < ARRIVALS_MAX
  const lastId = isWhole ? newestId : (ids.at(-1) ?? newestId)
  return { ...nothing, rows, lastId, hasMore: lastId < newestId }
}

/** The first requests that fit into one event, and the very first whatever its size. */
function fitting(found: readonly { readonly id: number; readonly bytes: number }[]) {
  const ids: number[] = []
  let bytes = 0
  for (const one of found) {
    if (ids.length > 0 && bytes + one.bytes > ARRIVAL_BYTES_MAX) break
    bytes += one.bytes
    ids.push(one.id)
  }
  return { ids, bytes }
}
