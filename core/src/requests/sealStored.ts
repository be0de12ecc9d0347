import { type Selectable, sql } from 'kysely'
import { updateCounters } from '../endpoints/index.ts'
import {
  BYTEA,
  encodeArray,
  INT4,
  INT8,
  type RequestsTable,
  run,
  statement,
  type Trx,
} from '../platform/db/index.ts'
import { type DataKeyRef, sealBodyInSteps, sealMembers, sealNote } from '../platform/secrets/index.ts'
import { atOnce } from '../platform/turns/index.ts'
import { lockCounters } from './queries.ts'
import { forgetPaged } from './searchPages/index.ts'
import { requestStorageBytes, type StoredParts, storageBytesOf } from './storageBytes.ts'
import { bodyPreview } from './storedRequest.ts'

/** Requests, and bytes of their bodies, that one transaction seals, of those that it looks at. One is sealed whatever its size. */
const AT_ONCE = { looked: 2_000, rows: 50, bytes: 1024 * 1024 } as const

/** A request that was sealed, with its body as it was captured. */
export interface SealedRequest {
  readonly id: number
  readonly body: Buffer
}

/** The next requests of an endpoint in every state after an id, with few of them in plain. */
const NEXT = statement(
  'next requests to seal',
  `select id, is_plain from (select id, is_plain, sum(bytes) over (order by id) - bytes as bytes_before, count(*) filter (where is_plain) over (order by id) as rows
    from (
      select id, sealed_with is null as is_plain, case when sealed_with is null then octet_length(body) else 0 end as bytes
      from requests where endpoint_id = $1::uuid and id > $2::bigint order by id limit ${AT_ONCE.looked}
    ) r) sized where bytes_before < ${AT_ONCE.bytes} and rows <= ${AT_ONCE.rows} order by id`,
  { isPrepared: false },
)

const SEAL = statement(
  'seal stored requests',
  `with given as (
    select * from unnest($2::bigint[], $3::bytea[], $4::bytea[], $5::int[], $7::bytea[]) as g (id, body, sealed, storage_bytes, note)
  ), before as (
    select r.id, r.deleted_at is null and r.hidden_at is null as is_counted, octet_length(r.body) as bytes,
      ${storageBytesOf('r')} as storage_bytes
    from requests r where r.endpoint_id = $1::uuid and r.id = any($2::bigint[])
  ), sealed as (
    update requests r set path = '', query_string = null, header_values = '', content_type = null, user_agent = null,
      body_preview = null, decoded_text = null, column_values = null, body_is_binary = true, body = g.body, sealed = g.sealed, note = g.note,
      sealed_with = $6::uuid, storage_bytes = g.storage_bytes
    from given g where r.endpoint_id = $1::uuid and r.id = g.id
  ), summed as (
    select coalesce(sum(octet_length(g.body) - b.bytes), 0) as bytes,
      coalesce(sum(g.storage_bytes - b.storage_bytes), 0) as storage_bytes
    from before b join given g on g.id = b.id where b.is_counted
  )
  ${updateCounters({ stored: { requests: '0', bytes: 's.bytes', storageBytes: 's.storage_bytes' } })}
  from summed s where c.endpoint_id = $1::uuid`,
  { isPrepared: false },
)

/** Whether attempts of requests are under way or due: these read and record the request as it is stored. */
async function busyAmong(trx: Trx, endpointId: string, ids: readonly number[]): Promise<ReadonlySet<number>> {
  const { rows } = await sql<{ requestId: number }>`
    select request_id from deliveries
    where endpoint_id = ${endpointId} and request_id = any(${ids}::bigint[]) and finished_at is null
    union
    select request_id from delivery_attempts
    where endpoint_id = ${endpointId} and request_id = any(${ids}::bigint[]) and state = 'Pending'`.execute(
    trx,
  )
  return new Set(rows.map(({ requestId }) => requestId))
}

/**
 * Looks at the next requests of an endpoint, and seals those in plain. For these it holds the endpoint's lock for some
 * milliseconds. Requests with attempts that are under way or due are left out.
 *
 * @param before called with the requests, before the transaction commits
 * @returns the last id that was looked at, null at the end; and the least that was sealed or left out, to be looked at again
 */
export async function sealNext(
  trx: Trx,
  endpointId: string,
  { sealing, afterId }: { readonly sealing: Sealing; readonly afterId: number },
  before: (requests: readonly SealedRequest[]) => Promise<void>,
): Promise<{ readonly lastId: number | null; readonly againId: number | null }> {
  const looked = await run(trx, NEXT, [endpointId, afterId])
  const lastId = looked.at(-1)?.id ?? null
  const next = looked.flatMap(({ id, isPlain }) => (isPlain ? id : []))
  const [againId = null] = next
  if (againId === null) return { lastId, againId }
  await lockCounters(trx, endpointId)
  const busy = await busyAmong(trx, endpointId, next)
  const ids = next.filter((id) => !busy.has(id))
  const { rows } = await sql<Selectable<RequestsTable>>`
    select * from requests where endpoint_id = ${endpointId} and id = any(${ids}::bigint[]) order by id`.execute(
    trx,
  )
  const stored = rows.map((row) =>
    sealedRow(sealing, {
      ...row,
      sealed: null,
      headerValues: row.headerValues.toString('latin1'),
      storageBytes: row.storageBytes ?? 0,
    }),
  )
  await before(rows)
  await run(trx, SEAL, [
    endpointId,
    encodeArray(INT8, stored, ({ id }) => id),
    encodeArray(BYTEA, stored, ({ body }) => body),
    encodeArray(BYTEA, stored, ({ sealed }) => sealed),
    encodeArray(INT4, stored, ({ storageBytes }) => storageBytes),
    sealing.id,
    encodeArray(BYTEA, stored, ({ note }) => note),
  ])
  await forgetPaged(trx, endpointId, ids)
  return { lastId, againId }
}

/** The data key of an endpoint, opened. Never to be logged. */
export interface Sealing extends DataKeyRef {
  readonly key: Buffer
}

type PlainRow = StoredParts & {
  readonly bodyIsBinary: boolean
  /** Stored by early versions. */
  readonly bodyPreview?: string | null
  readonly storageBytes: number
}

/**
 * Seals the content of a row: path, query, header values, body, and what repeats them. Method, names of headers, label,
 * event id, address, sizes and verdict stay in plain: lists filter by them.
 */
export function sealedRow<Row extends PlainRow>(sealing: Pick<Sealing, 'id' | 'key'>, row: Row) {
  return atOnce(sealedRowInSteps(sealing, row))
}

/** {@link sealedRow} in steps that seal at most 64 KiB of the body. */
export function* sealedRowInSteps<Row extends PlainRow>({ id, key }: Pick<Sealing, 'id' | 'key'>, row: Row) {
  const { path, queryString, contentType, userAgent, bodyIsBinary } = row
  const sealed = sealMembers(key, {
    path,
    queryString,
    headerValues: Buffer.from(row.headerValues, 'latin1'),
    contentType,
    userAgent,
    bodyPreview: row.bodyPreview ?? bodyPreview(row),
    bodyIsBinary,
  })
  const stored = {
    ...row,
    path: '',
    queryString: null,
    headerValues: '',
    contentType: null,
    userAgent: null,
    decodedText: null,
    columnValues: null,
    // Searches do not read binary bodies.
    bodyIsBinary: true,
    body: row.body.length === 0 ? row.body : yield* sealBodyInSteps(key, row.body, sealed),
    note: row.note && sealNote(key, row.note, sealed),
    sealedWith: id,
    sealed,
  }
  return { ...stored, storageBytes: requestStorageBytes(stored) }
}
