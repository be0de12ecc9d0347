import type { Db } from '../platform/db/index.ts'
import { applyFilters } from './filters.ts'
import { newestRequestId } from './followQueries.ts'
import { type RequestRow, summaries } from './queries.ts'
import type { RequestFilters } from './schema.ts'

/** The most requests that one event holds, and about how many bytes of bodies. */
const ARRIVALS_MAX = 100
const ARRIVAL_BYTES_MAX = 1_048_576

/** Whole requests that arrived after some request, oldest first. */
export interface WholeArrivals {
  readonly rows: readonly RequestRow[]
  /** Every request up to this one was looked at, also those that do not match. */
  readonly lastId: number
  readonly hasMore: boolean
}

/**
 * What arrived after `afterId`, as much as one event holds: at least one request when there is any. Ids are given out in
 * the order of commits, so nothing can appear later below an id that was seen.
 */
export async function listWholeArrivals(
  db: Db,
  endpointId: string,
  filters: Omit<RequestFilters, 'afterId'>,
  afterId: number,
): Promise<WholeArrivals> {
  const newestId = await newestRequestId(db, endpointId)
  if (newestId <= afterId) return { rows: [], lastId: afterId, hasMore: false }
  const found = await applyFilters(summaries(db, endpointId).clearSelect(), { ...filters, afterId })
    .select(['r.id', 'r.sizeBytes'])
    .where('r.id', '<=', newestId)
    .orderBy('r.id', 'asc')
    .limit(ARRIVALS_MAX)
    .execute()
  const ids = fitting(found)
  const rows =
    ids.length === 0
      ? []
      : await summaries(db, endpointId)
          .select(['r.queryString', 'r.headerNames', 'r.headerValues', 'r.body'])
          .where('r.id', 'in', ids)
          .orderBy('r.id', 'asc')
          .execute()
  const isWhole = ids.length === found.length && found.length < ARRIVALS_MAX
  const lastId = isWhole ? newestId : (ids.at(-1) ?? newestId)
  return { rows, lastId, hasMore: lastId < newestId }
}

/** The first ones whose bodies fit into one event, and the very first whatever its size. */
function fitting(found: readonly { readonly id: number; readonly sizeBytes: number }[]): number[] {
  const ids: number[] = []
  let bytes = 0
  for (const { id, sizeBytes } of found) {
    bytes += sizeBytes
    if (ids.length > 0 && bytes > ARRIVAL_BYTES_MAX) break
    ids.push(id)
  }
  return ids
}
