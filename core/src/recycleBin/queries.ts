import { type SelectQueryBuilder, sql } from 'kysely'
import { type Between, pageByTime, type TimePlace } from '../api/cursors.ts'
import type { Page } from '../api/pagination.ts'
import { updateCounters } from '../endpoints/index.ts'
import type { Database, Db, Trx } from '../platform/db/index.ts'
import { sealedMembers } from '../platform/secrets/index.ts'
import { DAY_MS } from '../platform/time/index.ts'
import { storageBytesOf } from '../requests/index.ts'
import { BIN_DAYS } from './rules.ts'

/** The part of the recycle bin that a caller can restore. */
export interface BinScope {
  readonly workspaceId: string
  /** Only this endpoint; null for all. */
  readonly onlyEndpointId: string | null
  readonly retentionMs: number
  readonly now: Date
}

/** A deleted request in the bin's list, without its body. */
export interface BinnedRow {
  readonly id: number
  readonly endpointId: string
  readonly endpointName: string
  readonly method: string
  readonly path: string
  readonly label: string | null
  readonly contentType: string | null
  readonly sizeBytes: number
  readonly receivedAt: Date
  readonly deletedAt: Date
}

type BinTables = Database & { r: Database['requests']; e: Database['endpoints'] }

/** Restorable requests: of existing endpoints, and before `purgesAt` (rules.ts), whether swept or not. */
function restorable(
  db: Db,
  { workspaceId, onlyEndpointId, retentionMs, now }: BinScope,
): SelectQueryBuilder<BinTables, 'r' | 'e', object> {
  return db
    .selectFrom('requests as r')
    .innerJoin('endpoints as e', 'e.id', 'r.endpointId')
    .where('e.workspaceId', '=', workspaceId)
    .$if(onlyEndpointId !== null, (query) => query.where('e.id', '=', onlyEndpointId))
    .where('e.deletedAt', 'is', null)
    .where((where) => where.or([where('e.expiresAt', 'is', null), where('e.expiresAt', '>', now)]))
    .where('r.hiddenAt', 'is', null)
    .where('r.deletedAt', '>', new Date(now.getTime() - BIN_DAYS * DAY_MS))
    .where('r.receivedAt', '>', new Date(now.getTime() - retentionMs))
}

/** One page, the last deleted first. Served by `requests_binned`, which contains only binned rows. */
export async function listBin(
  db: Db,
  scope: BinScope,
  endpointId: string | undefined,
  page: Page & Between<TimePlace>,
) {
  const all = restorable(db, scope)
  const matching = endpointId === undefined ? all : all.where('e.id', '=', endpointId)
  const shown = matching
    .select(['r.id', 'r.endpointId', 'e.name as endpointName', 'r.method', 'r.path', 'r.label'])
    .select(['r.contentType', 'r.sizeBytes', 'r.receivedAt', 'r.deletedAt'])
    .select(sealedMembers('r'))
    .$castTo<BinnedRow>()
  return await pageByTime(shown, ['r.deletedAt', 'r.id'], page)
}

/** Requests that left the bin before `purgesAt`, because the storage limit was reached. */
export interface BinEvictions {
  readonly count: number
  /** When the latest of them left; null if there is none. */
  readonly lastAt: Date | null
}

/** Requests that left the bin early: of the endpoint, or of all existing ones. */
export async function readBinEvictions(
  db: Db,
  { workspaceId, onlyEndpointId }: BinScope,
  endpointId: string | undefined,
): Promise<BinEvictions> {
  const id = endpointId ?? onlyEndpointId
  return await db
    .selectFrom('endpointCounters as c')
    .innerJoin('endpoints as e', 'e.id', 'c.endpointId')
    .where('e.workspaceId', '=', workspaceId)
    .where('e.deletedAt', 'is', null)
    .$if(id !== null, (query) => query.where('e.id', '=', id))
    .select(sql<number>`coalesce(sum(c.bin_evicted_count), 0)::bigint`.as('count'))
    .select((of) => of.fn.max('c.binEvictedAt').as('lastAt'))
    .executeTakeFirstOrThrow()
}

/** The ids that are in the bin. Served by `requests_binned_by_id`. */
export function findBinned(db: Db, scope: BinScope, ids: readonly number[]) {
  return restorable(db, scope)
    .where('r.id', 'in', ids)
    .select(['r.id', 'r.endpointId', 'r.receivedAt'])
    .execute()
}

/** Locks the counters of endpoints, in id order like every other writer. */
export function lockStoredCounts(trx: Trx, endpointIds: readonly string[]) {
  return trx
    .selectFrom('endpointCounters')
    .where('endpointId', 'in', endpointIds)
    .select(['endpointId', 'storedRequestCount'])
    .orderBy('endpointId')
    .forUpdate()
    .execute()
}

/**
 * Restores an endpoint's requests from the bin and keeps the counters equal to the rows. The caller locks the counters.
 */
export async function takeFromBin(trx: Trx, endpointId: string, ids: readonly number[]): Promise<void> {
  await sql`
    with restored as (
      update requests set deleted_at = null
      where endpoint_id = ${endpointId} and id = any(${ids}::bigint[])
        and deleted_at is not null and hidden_at is null
      returning id, octet_length(body) as bytes, ${sql.raw(storageBytesOf('requests'))} as counted_bytes
    )
    ${sql.raw(
      updateCounters({
        stored: { requests: 'restored_count', bytes: 'bytes', storageBytes: 'counted_bytes' },
        unbinned: 'restored_count',
        // Always lower, so that nothing raises a mark that was read before.
        oldestRequestId: 'least(c.oldest_request_id - 1, oldest_id)',
      }),
    )}
    from (
      select count(*)::int as restored_count, coalesce(sum(bytes), 0) as bytes, coalesce(sum(counted_bytes), 0) as counted_bytes,
        min(id) as oldest_id
      from restored
    ) as summed
    where c.endpoint_id = ${endpointId}`.execute(trx)
}
