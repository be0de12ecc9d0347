import { type AbortableQueryOptions, type Selectable, sql } from 'kysely'
import type { Db, RequestsTable, Trx } from '../platform/db/index.ts'
import { applyFilters } from './filters.ts'
import type { RequestFilters } from './schema.ts'
import { firstRequestId, senderAttempt } from './senderAttempts.ts'
import { attemptCount, requestState } from './state.ts'
import { storageBytesOf } from './storageBytes.ts'
import { STORED_REQUEST_COLUMNS } from './storedRequest.ts'

const SUMMARY_COLUMNS = [
  'r.id',
  'r.endpointId',
  'r.receivedAt',
  'r.method',
  'r.path',
  'r.contentType',
  'r.sizeBytes',
  'r.ip',
  'r.userAgent',
  'r.label',
  'r.eventId',
  'r.bodyTruncated',
  'r.bodyIsBinary',
  'r.bodyPreview',
  'r.verdict',
  'r.verdictNote',
  'r.imported',
  'r.reconciled',
] as const

type SummaryColumn = (typeof SUMMARY_COLUMNS)[number] extends `r.${infer Name}` ? Name : never

/** What lists read of a request: never its body. */
export interface RequestSummaryRow extends Pick<Selectable<RequestsTable>, SummaryColumn> {
  readonly state: string
  readonly attemptCount: number
  /** From 1; null without an event id, and of an import. */
  readonly senderAttempt: number | null
  /** Null for the first of its event. */
  readonly firstRequestId: number | null
}

/** A whole stored request, its body included. */
export interface RequestRow extends RequestSummaryRow {
  readonly queryString: string | null
  readonly headerNames: string
  readonly headerValues: Buffer
  readonly body: Buffer
  /** It is longer than was asked for: `body` is empty. */
  readonly bodyOmitted?: boolean
}

/** The visible requests of an endpoint. */
export function visibleRequests(db: Db, endpointId: string) {
  return db
    .selectFrom('requests as r')
    .where('r.endpointId', '=', endpointId)
    .where('r.deletedAt', 'is', null)
    .where('r.hiddenAt', 'is', null)
}

/** Visible requests as lists show them. */
export function summaries(db: Db, endpointId: string) {
  return visibleRequests(db, endpointId)
    .select(SUMMARY_COLUMNS)
    .select([
      requestState.as('state'),
      attemptCount.as('attemptCount'),
      senderAttempt.as('senderAttempt'),
      firstRequestId.as('firstRequestId'),
    ])
}

/** Requests of an endpoint by id as lists show them, newest first; those that were deleted meanwhile are left out. */
export async function summariesOf(
  db: Db,
  endpointId: string,
  ids: readonly number[],
  options: AbortableQueryOptions,
): Promise<RequestSummaryRow[]> {
  if (ids.length === 0) return []
  return await summaries(db, endpointId).where('r.id', 'in', ids).orderBy('r.id', 'desc').execute(options)
}

/** The visible requests of an endpoint, whole but for their bodies. */
export function requestsWithHeaders(db: Db, endpointId: string) {
  return summaries(db, endpointId).select(['r.queryString', 'r.headerNames', 'r.headerValues'])
}

/**
 * The id that an await answers: with `afterId` the lowest match above it, so that a client can loop without
 * gaps; without, the newest.
 */
export async function findAwaited(
  db: Db,
  endpointId: string,
  filters: RequestFilters,
): Promise<number | undefined> {
  const row = await applyFilters(visibleRequests(db, endpointId), filters)
    .select('r.id')
    .orderBy('r.id', filters.afterId === undefined ? 'desc' : 'asc')
    .limit(1)
    .executeTakeFirst()
  return row?.id
}

/** Stored requests that can be sent again, oldest first: binned ones and oversize traces cannot. */
function replayable(db: Db, endpointId: string, ids: readonly number[]) {
  return db
    .selectFrom('requests')
    .where('endpointId', '=', endpointId)
    .where('id', 'in', ids)
    .where('deletedAt', 'is', null)
    .where('hiddenAt', 'is', null)
    .where('bodyTruncated', '=', false)
    .orderBy('id')
}

/** Which of these requests can be sent again, and how large they are. */
export function findReplayableSizes(db: Db, endpointId: string, ids: readonly number[]) {
  return replayable(db, endpointId, ids)
    .select(['id', sql<number>`octet_length(body)`.as('bodyBytes')])
    .execute()
}

/** The same with their bodies. */
export function findReplayable(db: Db, endpointId: string, ids: readonly number[]) {
  return replayable(db, endpointId, ids)
    .select(['id', ...STORED_REQUEST_COLUMNS])
    .execute()
}

/** Serialises whatever changes the endpoint's stored requests, until the transaction ends. */
export async function lockCounters(trx: Trx, endpointId: string): Promise<void> {
  await trx
    .selectFrom('endpointCounters')
    .where('endpointId', '=', endpointId)
    .select('endpointId')
    .forUpdate()
    .execute()
}

/**
 * Moves requests to the recycle bin and keeps the counters equal to the rows. The caller holds the counters.
 *
 * @param ids which, or null for every one that is stored now
 * @returns how many moved: ids that are absent, binned or of another endpoint are passed over
 */
export async function moveToBin(trx: Trx, endpointId: string, ids: readonly number[] | null, now: Date) {
  const { rows } = await sql<{ movedCount: number }>`
    with moved as (
      update requests set deleted_at = ${now}
      where endpoint_id = ${endpointId} and deleted_at is null and hidden_at is null
        and (${ids}::bigint[] is null or id = any(${ids}::bigint[]))
      returning octet_length(body) as bytes, ${sql.raw(storageBytesOf('requests'))} as counted_bytes
    ), summed as (
      select count(*)::int as moved_count, coalesce(sum(bytes), 0) as bytes, coalesce(sum(counted_bytes), 0) as counted_bytes
      from moved
    ),
    counted as (
      update endpoint_counters set
        stored_request_count = stored_request_count - moved_count,
        stored_bytes = stored_bytes - bytes,
        storage_bytes = storage_bytes - counted_bytes,
        binned_request_count = binned_request_count + moved_count
      from summed where endpoint_id = ${endpointId} and moved_count > 0
    )
    select moved_count from summed`.execute(trx)
  return rows[0]?.movedCount ?? 0
}
