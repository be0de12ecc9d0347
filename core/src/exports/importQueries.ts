import type { CaptureRow } from '../capture/index.ts'
import { updateCounters } from '../endpoints/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import { type Db, type RowsOf, run, statement, type Trx } from '../platform/db/index.ts'

/** Number of requests that the endpoint stores, by its counter. Exact if the caller holds the counters' lock. */
export async function storedCount(db: Db | Trx, endpointId: string): Promise<number> {
  const row = await db
    .selectFrom('endpointCounters')
    .where('endpointId', '=', endpointId)
    .select('storedRequestCount')
    .executeTakeFirst()
  return row?.storedRequestCount ?? 0
}

export interface BatchName {
  readonly importId: string
  /** From 0, without gaps. */
  readonly number: number
}

/**
 * Columns of a request that an import sets, with their types in a staged head. `body` and `id` are stored separately.
 */
const STAGED = {
  received_at: 'timestamptz',
  method: 'text',
  path: 'text',
  query_string: 'text',
  header_names: 'text',
  header_values: 'text',
  content_type: 'text',
  size_bytes: 'bigint',
  ip: 'text',
  user_agent: 'text',
  label: 'text',
  event_id: 'text',
  body_truncated: 'boolean',
  body_is_binary: 'boolean',
  decoded_text: 'text',
  verdict: 'text',
  verdict_note: 'text',
  redaction: 'text',
  column_values: 'text',
  note: 'bytea',
  sealed_with: 'uuid',
  sealed: 'bytea',
  storage_bytes: 'integer',
} as const

const byteText = (bytes: Uint8Array | null) =>
  bytes === null ? null : `\\x${Buffer.from(bytes).toString('hex')}`

/** A row of `requests` as it is staged: JSON without its body, which is stored with the other bodies of its batch. */
export function stagedHead(row: CaptureRow): string {
  const head: Readonly<Record<keyof typeof STAGED | 'body_bytes', unknown>> = {
    received_at: row.receivedAt,
    method: row.method,
    path: row.path,
    query_string: row.queryString,
    header_names: row.headerNames,
    header_values: row.headerValues,
    content_type: row.contentType,
    size_bytes: row.sizeBytes,
    ip: row.ip,
    user_agent: row.userAgent,
    label: row.label,
    event_id: row.eventId,
    body_truncated: row.bodyTruncated,
    body_is_binary: row.bodyIsBinary,
    decoded_text: row.decodedText,
    verdict: row.verdict,
    verdict_note: row.verdictNote,
    redaction: row.redaction,
    column_values: row.columnValues,
    sealed_with: row.sealedWith,
    note: byteText(row.note),
    sealed: byteText(row.sealed),
    storage_bytes: row.storageBytes,
    body_bytes: row.body.length,
  }
  return JSON.stringify(head)
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

/** Deletes an import with all its batches, if it exists. */
export async function dropImport(db: Db | Trx, importId: string): Promise<void> {
  await db.deleteFrom('imports').where('id', '=', importId).execute()
}

const NAMES = Object.keys(STAGED)

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
          as (${Object.entries(STAGED)
            .map(([name, type]) => `${name} ${type}`)
            .join(', ')}, body_bytes integer)
      ) with ordinality as line (${NAMES.join(', ')}, body_bytes, number)
      where batch.import_id = $1::uuid and batch.number = $2::integer
      order by line.number
    ) ordered
  ), stored as (
    insert into requests (endpoint_id, id, imported, dispatch_state, body, ${NAMES.join(', ')})
    select $3::uuid, id, true, 'NotAttempted',
      substring(bodies from body_from::integer + 1 for body_bytes), ${NAMES.map((name) =>
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

export type StoredBatch = RowsOf<typeof STORE>

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
): Promise<StoredBatch | undefined> {
  const rows = await run(trx, STORE, [importId, number, endpointId])
  const [stored] = rows
  if (stored === undefined) return undefined
  await trx
    .deleteFrom('importBatches')
    .where('importId', '=', importId)
    .where('number', '=', number)
    .execute()
  await announceEndpointChange(trx, endpointId)
  return stored
}
