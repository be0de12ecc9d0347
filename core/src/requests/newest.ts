import { setImmediate } from 'node:timers/promises'
import { type AbortableQueryOptions, sql } from 'kysely'
import { columnValues, storedColumns } from '../engine/columns/index.ts'
import { PARSED_BODY_BYTES_MAX } from '../engine/message/index.ts'
import { type Db, encodeArray, INT8, run, statement, TEXT } from '../platform/db/index.ts'
import { sealedMembers } from '../platform/secrets/index.ts'
import { visibleRequests } from './queries.ts'
import { STORED_REQUEST_COLUMNS, storedRequest } from './storedRequest.ts'

/** The most octets of bodies that are read. */
const READ_BYTES_MAX = 8 * 1024 * 1024

/**
 * Reads the newest stored requests of an endpoint, newest first, while their bodies fit in 8 MiB. A body that is too
 * long to be parsed is read as empty.
 *
 * @param label only requests with this label
 */
export async function newestRequests(
  db: Db,
  endpointId: string,
  { last, label }: { readonly last: number; readonly label?: string | undefined },
  options: AbortableQueryOptions,
) {
  const sizes = await visibleRequests(db, endpointId)
    .$if(label !== undefined, (query) => query.where('r.label', '=', label ?? ''))
    .select(['r.id', sql<number>`octet_length(r.body)`.as('bytes')])
    .orderBy('r.id', 'desc')
    .limit(last)
    .execute(options)
  let left = READ_BYTES_MAX
  const ids = sizes
    .filter(({ bytes }) => {
      left -= bytes > PARSED_BODY_BYTES_MAX ? 0 : bytes
      return left >= 0
    })
    .map(({ id }) => id)
  if (ids.length === 0) return []
  return await db
    .selectFrom('requests as r')
    .where('r.endpointId', '=', endpointId)
    .where('r.id', 'in', ids)
    .select(
      STORED_REQUEST_COLUMNS.filter((column) => column !== 'body').map((column) => `r.${column}` as const),
    )
    .select(
      sql<Buffer>`case when octet_length(r.body) > ${PARSED_BODY_BYTES_MAX} then ''::bytea else r.body end`.as(
        'body',
      ),
    )
    .select(['r.id', 'r.sealedWith', 'r.redaction'])
    .select(sealedMembers('r'))
    .orderBy('r.id', 'desc')
    .execute(options)
}

/** The newest requests that get the values of new columns, so that the list shows them at once. */
const FILLED = 100

const FILL = statement(
  'fill columns of requests',
  `update requests r set column_values = g.column_values
  from unnest($2::bigint[], $3::text[], $4::text[]) as g (id, column_values, redaction)
  where r.endpoint_id = $1::uuid and r.id = g.id and r.sealed_with is null
    and r.redaction is not distinct from g.redaction`,
  { isPrepared: false },
)

/**
 * Gives the newest requests of an endpoint the values of its columns, if these were changed. Requests whose content is
 * sealed get none, nor do those that were erased since they were read.
 */
export async function fillColumns(
  { db, signal }: { readonly db: Db; readonly signal: AbortSignal },
  before: { readonly id: string; readonly columns: string },
  after: { readonly columns: readonly string[] },
): Promise<void> {
  const text = JSON.stringify(after.columns)
  if (text === before.columns) return
  const endpointId = before.id
  const columns = storedColumns(text)
  const rows = await newestRequests(db, endpointId, { last: FILLED }, { signal })
  const plain = rows.filter(({ sealedWith }) => sealedWith === null)
  const values: (string | null)[] = []
  for (const row of plain) {
    values.push(columnValues(columns, storedRequest({ ...row, endpointId })))
    // Other work of the process runs between two bodies.
    await setImmediate()
  }
  const ids = plain.map(({ id }) => id)
  await run(db, FILL, [
    endpointId,
    encodeArray(INT8, ids, (id) => id),
    encodeArray(TEXT, values, (value) => value),
    encodeArray(TEXT, plain, ({ redaction }) => redaction),
  ])
}
