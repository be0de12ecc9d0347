import { type AbortableQueryOptions, type Selectable, sql } from 'kysely'
import type { Services } from '../api/services.ts'
import { updateCounters } from '../endpoints/index.ts'
import { type Db, type RequestsTable, run, statement, type Trx } from '../platform/db/index.ts'
import { sealedMembers } from '../platform/secrets/index.ts'
import { applyFilters } from './filters.ts'
import { KEEPS_ORIGINAL } from './originals.ts'
import type { ListFilters, Order } from './schema.ts'
import { firstRequestId, outcomes, senderAttempt } from './state.ts'
import { storageBytesOf } from './storageBytes.ts'
import { bodyPreviewOf, STORED_REQUEST_COLUMNS } from './storedRequest.ts'

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
  'r.verdict',
  'r.verdictNote',
  'r.imported',
  'r.reconciled',
  'r.duplicateOf',
  'r.redaction',
  'r.answeredBy',
  'r.columnValues',
  'r.note',
] as const

type SummaryColumn = (typeof SUMMARY_COLUMNS)[number] extends `r.${infer Name}` ? Name : never

/** Columns of a request that lists read, and the beginning of its body. */
export interface RequestSummaryRow extends Pick<Selectable<RequestsTable>, SummaryColumn> {
  /** See {@link bodyPreviewOf}. */
  readonly bodyPreview: string | null
  /** See {@link outcomeOf}. */
  readonly outcomes: readonly string[]
  /** From 1; null without an event id and for an import. */
  readonly senderAttempt: number | null
  /** Null for the first of its event. */
  readonly firstRequestId: number | null
  /** Id of the data key that sealed its content; null if it is stored in plain. */
  readonly sealedWith: string | null
  readonly sealed: Buffer | null
  /** Null also if the key is gone: then the content is, too. */
  readonly sealedKey: Buffer | null
}

/** A whole stored request, its body included. */
export interface RequestRow extends RequestSummaryRow {
  readonly queryString: string | null
  readonly headerNames: string
  readonly headerValues: Buffer
  readonly body: Buffer
  /** Length of the body if it is longer than was asked for. Then `body` is empty. */
  readonly omittedBytes?: number | null
}

export function visibleRequests(db: Db, endpointId: string) {
  return db
    .selectFrom('requests as r')
    .where('r.endpointId', '=', endpointId)
    .where('r.deletedAt', 'is', null)
    .where('r.hiddenAt', 'is', null)
}

export function summaries(db: Db, endpointId: string) {
  return visibleRequests(db, endpointId)
    .select(SUMMARY_COLUMNS)
    .select(sql<string | null>`${sql.raw(bodyPreviewOf('r'))}`.as('bodyPreview'))
    .select([outcomes.as('outcomes'), senderAttempt.as('senderAttempt'), firstRequestId.as('firstRequestId')])
    .select(sealedMembers('r'))
}

/** Reads requests by id with the columns of lists, newest first by default. Requests deleted in the meantime are left out. */
export async function summariesOf(
  db: Db,
  endpointId: string,
  ids: readonly number[],
  options: AbortableQueryOptions,
  order: Order = 'desc',
): Promise<RequestSummaryRow[]> {
  if (ids.length === 0) return []
  return await summaries(db, endpointId).where('r.id', 'in', ids).orderBy('r.id', order).execute(options)
}

/** The visible requests of an endpoint with all columns except the body. */
export function requestsWithHeaders(db: Db, endpointId: string) {
  return summaries(db, endpointId).select(['r.queryString', 'r.headerNames', 'r.headerValues'])
}

/** The first visible request of an endpoint that matches. */
export async function findFirst(
  db: Db,
  endpointId: string,
  { filters, order }: { readonly filters: ListFilters; readonly order: Order },
): Promise<number | undefined> {
  const row = await applyFilters(visibleRequests(db, endpointId), filters)
    .select('r.id')
    .orderBy('r.id', order)
    .limit(1)
    .executeTakeFirst()
  return row?.id
}

/**
 * Stored requests that can be replayed, oldest first. Deleted ones, oversize traces, and those whose key or original is
 * gone cannot.
 */
function replayable(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  endpointId: string,
  ids: readonly number[],
) {
  return db
    .selectFrom('requests')
    .where('endpointId', '=', endpointId)
    .where('id', 'in', ids)
    .where('deletedAt', 'is', null)
    .where('hiddenAt', 'is', null)
    .where('bodyTruncated', '=', false)
    .where(sql<boolean>`(sealed_with is null or creel_keys.data_key(sealed_with) is not null)`)
    .where(
      sql<boolean>`(redaction is null or not (${KEEPS_ORIGINAL}) or exists (
        select from request_originals o
        where o.endpoint_id = requests.endpoint_id and o.request_id = requests.id and o.expires_at > ${clock.now()}))`,
    )
    .orderBy('id')
}

export function findReplayableIds(
  services: Pick<Services, 'db' | 'clock'>,
  endpointId: string,
  ids: readonly number[],
) {
  return replayable(services, endpointId, ids).select('id').execute()
}

/** Reads those requests that can be replayed, with their bodies. */
export function findReplayable(
  services: Pick<Services, 'db' | 'clock'>,
  endpointId: string,
  ids: readonly number[],
) {
  return replayable(services, endpointId, ids)
    .select(['id', 'redaction', ...STORED_REQUEST_COLUMNS])
    .select(sealedMembers('requests'))
    .execute()
}

/** Locks the endpoint's counters until the transaction ends. All changes of its stored requests take this lock. */
export async function lockCounters(trx: Trx, endpointId: string): Promise<void> {
  await trx
    .selectFrom('endpointCounters')
    .where('endpointId', '=', endpointId)
    .select('endpointId')
    .forUpdate()
    .execute()
}

const MOVE_TO_BIN = statement(
  'move requests to bin',
  `with moved as (
    update requests set deleted_at = $1
    where endpoint_id = $2 and id = any($3::bigint[]) and deleted_at is null and hidden_at is null
    returning octet_length(body) as bytes, ${storageBytesOf('requests')} as counted_bytes
  ), summed as (
    select count(*)::int as moved_count, coalesce(sum(bytes), 0) as bytes, coalesce(sum(counted_bytes), 0) as counted_bytes
    from moved
  ),
  counted as (
    ${updateCounters({
      unstored: { requests: 'moved_count', bytes: 'bytes', storageBytes: 'counted_bytes' },
      binned: 'moved_count',
    })}
    from summed where c.endpoint_id = $2 and moved_count > 0
  )
  select moved_count from summed`,
  { isPrepared: false },
)

/**
 * Moves requests to the recycle bin and updates the counters. The caller holds their lock.
 *
 * @param ids ids of the requests; absent, deleted and foreign ones are ignored
 * @returns the number of moved requests
 */
export async function moveToBin(trx: Trx, endpointId: string, ids: readonly number[], now: Date) {
  const rows = await run(trx, MOVE_TO_BIN, [now, endpointId, ids])
  return rows[0]?.movedCount ?? 0
}

/**
 * Filters event ids to those of stored requests of the endpoint. Deleted requests count until they are purged. Served by the
 * index of requests that have an event id.
 *
 * @param hash makes the digest of an id, which a request has instead if rules took the id out; null without a key
 */
export async function capturedEventIds(
  db: Db,
  endpointId: string,
  eventIds: readonly string[],
  hash: ((text: string) => string) | null,
): Promise<ReadonlySet<string>> {
  if (eventIds.length === 0) return new Set()
  const idOf = new Map(eventIds.map((id) => [hash === null ? id : hash(id), id]))
  const rows = await db
    .selectFrom('requests')
    .where('endpointId', '=', endpointId)
    .where('eventId', 'in', [...eventIds, ...idOf.keys()])
    .select('eventId')
    .distinct()
    .execute()
  return new Set(rows.flatMap(({ eventId }) => (eventId === null ? [] : (idOf.get(eventId) ?? eventId))))
}
