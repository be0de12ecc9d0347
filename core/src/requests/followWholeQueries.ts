import { sql } from 'kysely'
import type { Db } from '../platform/db/index.ts'
import { countPiece } from '../platform/memory/index.ts'
import { applyFilters } from './filters.ts'
import { newestRequestId } from './followQueries.ts'
import { type RequestRow, summaries } from './queries.ts'
import type { RequestFilters } from './schema.ts'

/**
 * The most requests of one event, and the most bytes of their headers and bodies. One request is sent whatever its
 * size.
 */
const ARRIVALS_MAX = 100
const ARRIVAL_BYTES_MAX = 1_048_576

/** Garbage of reading a long capture, in its sizes: the database's hexadecimal text, the JSON texts, and the octets. */
const COPIES = 6

/** Whole requests that arrived after a given one, oldest first. */
export interface WholeArrivals {
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
export async function listWholeArrivals(
  db: Db,
  endpointId: string,
  filters: Omit<RequestFilters, 'afterId'>,
  afterId: number,
  takeRoom: (bytes: number) => Promise<boolean>,
): Promise<WholeArrivals> {
  const newestId = await newestRequestId(db, endpointId)
  const nothing = { rows: [], lastId: afterId, hasMore: false, isBehind: false, newestId }
  if (newestId <= afterId) return nothing
  const found = await applyFilters(summaries(db, endpointId).clearSelect(), { ...filters, afterId })
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
