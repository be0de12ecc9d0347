import { sql } from 'kysely'
import type { Db } from '../platform/db/index.ts'
import {
  applyFilters,
  type RequestFilters,
  type RequestRow,
  requestsWithBodies,
  visibleRequests,
} from '../requests/index.ts'

/** The largest id that is stored now: an export ends there. */
export async function newestId(db: Db, endpointId: string): Promise<number | undefined> {
  const row = await visibleRequests(db, endpointId)
    .select('r.id')
    .orderBy('r.id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.id
}

/** The id up to which there are so many stored requests after `afterId`; `untilId` where there are fewer. */
export async function endOfStep(
  db: Db,
  endpointId: string,
  { afterId, untilId, rows }: { readonly afterId: number; readonly untilId: number; readonly rows: number },
): Promise<number> {
  const row = await visibleRequests(db, endpointId)
    .where('r.id', '>', afterId)
    .where('r.id', '<=', untilId)
    .select('r.id')
    .orderBy('r.id')
    .limit(1)
    .offset(rows - 1)
    .executeTakeFirst()
  return row?.id ?? untilId
}

/** The ids that match, up to `untilId`, oldest first, and how large their bodies are. */
export function matchingSizes(
  db: Db,
  endpointId: string,
  filters: RequestFilters,
  untilId: number,
): Promise<{ id: number; bodyBytes: number }[]> {
  return applyFilters(visibleRequests(db, endpointId), filters)
    .where('r.id', '<=', untilId)
    .select(['r.id', sql<number>`octet_length(r.body)`.as('bodyBytes')])
    .orderBy('r.id')
    .execute()
}

/** These requests, whole, oldest first; those that were deleted meanwhile are left out. */
export function findRequestsByIds(db: Db, endpointId: string, ids: readonly number[]): Promise<RequestRow[]> {
  return requestsWithBodies(db, endpointId).where('r.id', 'in', ids).orderBy('r.id').execute()
}
