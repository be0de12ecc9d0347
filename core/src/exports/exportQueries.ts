import { sql } from 'kysely'
import type { Db } from '../platform/db/index.ts'
import {
  applyFilters,
  type RequestFilters,
  type RequestRow,
  requestsWithBodies,
  visibleRequests,
} from '../requests/index.ts'

/** The largest id that matches now: an export ends there. */
export async function newestMatchingId(
  db: Db,
  endpointId: string,
  filters: RequestFilters,
): Promise<number | undefined> {
  const row = await applyFilters(visibleRequests(db, endpointId), filters)
    .select('r.id')
    .orderBy('r.id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.id
}

/** The ids that match, oldest first, and how large their bodies are. */
export function matchingSizes(
  db: Db,
  endpointId: string,
  filters: RequestFilters,
  { untilId, limit }: { readonly untilId: number; readonly limit: number },
): Promise<{ id: number; bodyBytes: number }[]> {
  return applyFilters(visibleRequests(db, endpointId), filters)
    .where('r.id', '<=', untilId)
    .select(['r.id', sql<number>`octet_length(r.body)`.as('bodyBytes')])
    .orderBy('r.id')
    .limit(limit)
    .execute()
}

/** These requests, whole, oldest first; those that were deleted meanwhile are left out. */
export function findRequestsByIds(db: Db, endpointId: string, ids: readonly number[]): Promise<RequestRow[]> {
  return requestsWithBodies(db, endpointId).where('r.id', 'in', ids).orderBy('r.id').execute()
}
