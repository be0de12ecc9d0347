import { setImmediate } from 'node:timers/promises'
import { columnValues, storedColumns } from '../engine/columns/index.ts'
import { type Db, encodeArray, INT8, run, statement, TEXT } from '../platform/db/index.ts'
import { newestRequests } from './newest.ts'
import { storedRequest } from './storedRequest.ts'

/** The newest requests that get the values of new columns, so that the list shows them at once. */
const FILLED = 100

const FILL = statement(
  'fill columns of requests',
  `update requests r set column_values = g.column_values
  from unnest($2::bigint[], $3::text[]) as g (id, column_values)
  where r.endpoint_id = $1::uuid and r.id = g.id and r.sealed_with is null`,
  { isPrepared: false },
)

/**
 * Gives the newest requests of an endpoint the values of its columns, if these were changed. Requests whose content is
 * sealed get none.
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
  ])
}
