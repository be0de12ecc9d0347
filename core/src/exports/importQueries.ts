import { sql } from 'kysely'
import type { CaptureRow } from '../capture/index.ts'
import { updateCounters } from '../endpoints/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import {
  type Db,
  type ImportBatchesTable,
  type RowsOf,
  run,
  statement,
  type Trx,
} from '../platform/db/index.ts'

/** Number of requests that the endpoint stores, by its counter. Exact if the caller holds the counters' lock. */
export async function storedCount(db: Db | Trx, endpointId: string): Promise<number> {
  const row = await db
    .selectFrom('endpointCounters')
    .where('endpointId', '=', endpointId)
    .select('storedRequestCount')
    .executeTakeFirst()
  return row?.storedRequestCount ?? 0
}

const byteText = (bytes: Uint8Array | null) =>
  bytes === null ? null : `\\x${Buffer.from(bytes).toString('hex')}`

/**
 * Columns of a request that an import sets, with their types and values in a staged head. `body` and `id` are stored
 * separately.
 */
const STAGED: readonly (readonly [name: string, type: string, read: (row: CaptureRow) => unknown])[] = [
  ['received_at', 'timestamptz', (row) => row.receivedAt],
  ['method', 'text', (row) => row.method],
  ['path', 'text', (row) => row.path],
  ['query_string', 'text', (row) => row.queryString],
  ['header_names', 'text', (row) => row.headerNames],
  ['header_values', 'text', (row) => row.headerValues],
  ['content_type', 'text', (row) => row.contentType],
  ['size_bytes', 'bigint', (row) => row.sizeBytes],
  ['ip', 'text', (row) => row.ip],
  ['user_agent', 'text', (row) => row.userAgent],
  ['label', 'text', (row) => row.label],
  ['event_id', 'text', (row) => row.eventId],
  ['body_truncated', 'boolean', (row) => row.bodyTruncated],
  ['body_is_binary', 'boolean', (row) => row.bodyIsBinary],
  ['decoded_text', 'text', (row) => row.decodedText],
  ['verdict', 'text', (row) => row.verdict],
  ['verdict_note', 'text', (row) => row.verdictNote],
  ['redaction', 'text', (row) => row.redaction],
  ['column_values', 'text', (row) => row.columnValues],
  ['note', 'bytea', (row) => byteText(row.note)],
  ['sealed_with', 'uuid', (row) => row.sealedWith],
  ['sealed', 'bytea', (row) => byteText(row.sealed)],
  ['storage_bytes', 'integer', (row) => row.storageBytes],
]

/** A row of `requests` as it is staged: JSON without its body, which is stored with the other bodies of its batch. */
export function stagedHead(row: CaptureRow): string {
  const values = STAGED.map(([name, , read]) => [name, read(row)] as const)
  return JSON.stringify({ ...Object.fromEntries(values), body_bytes: row.body.length })
}

/**
 * Stages a batch; the first one creates the import. The import is deleted at `dueAt` unless more batches arrive.
 *
 * @param heads made by {@link stagedHead}, in the order of the lines
 * @param bodies concatenated
 */
export async function stageBatch(
  db: Db,
  { importId, number }: BatchName,
  { endpointId, dueAt, heads, bodies }: StagedBatch,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await trx
      .insertInto('imports')
      .values({ id: importId, endpointId, dueAt })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ dueAt }))
      .execute()
    await trx
      .insertInto('importBatches')
      .values({ importId, number, heads: `[${heads.join(',')}]`, bodies })
      .execute()
  })
}

interface StagedBatch {
  readonly endpointId: string
  readonly dueAt: Date
  readonly heads: readonly string[]
  readonly bodies: Buffer
}

/** Batches are numbered from 0, without gaps. */
type BatchName = Pick<ImportBatchesTable, 'importId' | 'number'>

/** Deletes an import with all its batches, if it exists. */
export async function dropImport(db: Db | Trx, importId: string): Promise<void> {
  await db.deleteFrom('imports').where('id', '=', importId).execute()
}

/** Whether lines of an endpoint are staged that may be stored later, under the settings that it had when they arrived. */
export async function isImporting(trx: Trx, endpointId: string): Promise<boolean> {
  const row = await trx
    .selectFrom('imports')
    .where('endpointId', '=', endpointId)
    .select('id')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Which imports of some endpoints are accepted and not stored yet. */
export async function acceptedImports(db: Db | Trx, endpointIds: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('imports')
    .where(sql<boolean>`endpoint_id = any(${endpointIds}::uuid[])`)
    .where('isAccepted', '=', true)
    .select('id')
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** Whether any of some imports is not stored yet. */
export async function isAnyUnstored(db: Db, importIds: readonly string[]): Promise<boolean> {
  const of = sql<boolean>`id = any(${importIds}::uuid[])`
  return (await db.selectFrom('imports').where(of).select('id').limit(1).executeTakeFirst()) !== undefined
}

const NAMES = STAGED.map(([name]) => name).join(', ')

/** Stores the batch `$2` of the import `$1` for the endpoint `$3`. */
const STORE = statement(
  'store staged batch',
  `with lines as (
    select nextval('request_ids') as id, ordered.*
    from (
      select line.*, sum(line.body_bytes) over (order by line.number) - line.body_bytes as body_from, batch.bodies
      from import_batches batch
      cross join lateral rows from (
        json_to_recordset(batch.heads::json)
          as (${STAGED.map(([name, type]) => `${name} ${type}`).join(', ')}, body_bytes integer)
      ) with ordinality as line (${NAMES}, body_bytes, number)
      where batch.import_id = $1::uuid and batch.number = $2::integer
      order by line.number
    ) ordered
  ), stored as (
    insert into requests (endpoint_id, id, imported, dispatch_state, body, ${NAMES})
    select $3::uuid, id, true, 'NotAttempted',
      substring(bodies from body_from::integer + 1 for body_bytes), ${STAGED.map(([name]) =>
        // One character a byte.
        name === 'header_values' ? `convert_to(${name}, 'LATIN1')` : name,
      ).join(', ')}
    from lines
    returning id, received_at, octet_length(body) as body_bytes, storage_bytes
  ), summed as (
    select count(*)::integer as imported_count, sum(body_bytes) as bytes,
      sum(storage_bytes) as storage_bytes, max(received_at) as newest,
      min(id) as first_id, max(id) as last_id
    from stored
  ), counted as (
    ${updateCounters({
      stored: { requests: 'imported_count', bytes: 'bytes', storageBytes: 'summed.storage_bytes' },
      requestAt: 'newest',
    })}
    from summed where c.endpoint_id = $3::uuid and imported_count > 0
  )
  select imported_count, first_id, last_id from summed where imported_count > 0`,
  { isPrepared: false, notNull: ['firstId', 'lastId'] },
)

/**
 * Stores a staged batch in the order of its lines, keeps the counters equal to the rows, and notifies followers. The
 * caller holds the counters' lock. The rows never leave the database.
 *
 * @returns undefined if the batch is already stored
 */
export async function storeStaged(
  trx: Trx,
  endpointId: string,
  { importId, number }: BatchName,
): Promise<RowsOf<typeof STORE> | undefined> {
  const [stored] = await run(trx, STORE, [importId, number, endpointId])
  if (stored === undefined) return undefined
  await trx
    .deleteFrom('importBatches')
    .where('importId', '=', importId)
    .where('number', '=', number)
    .execute()
  await announceEndpointChange(trx, endpointId)
  return stored
}
