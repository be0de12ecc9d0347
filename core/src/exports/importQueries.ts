import { sql } from 'kysely'
import type { CaptureRow } from '../capture/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import type { Trx } from '../platform/db/index.ts'

/** How many requests the endpoint stores, by its counter. The caller holds the counters. */
export async function storedCount(trx: Trx, endpointId: string): Promise<number> {
  const row = await trx
    .selectFrom('endpointCounters')
    .where('endpointId', '=', endpointId)
    .select('storedRequestCount')
    .executeTakeFirst()
  return row?.storedRequestCount ?? 0
}

/**
 * Stores rows in their order and keeps the counters equal to them; followers look again. The caller holds the counters.
 *
 * @param rows at least one
 */
export async function insertImported(
  trx: Trx,
  endpointId: string,
  rows: readonly CaptureRow[],
): Promise<{ firstId: number; lastId: number }> {
  const { rows: drawn } = await sql<{ id: number }>`
    select nextval('request_ids')::bigint as id from generate_series(1, ${rows.length}::int)`.execute(trx)
  const ids = drawn.map(({ id }) => id).sort((left, right) => left - right)
  await trx
    .insertInto('requests')
    .values(
      rows.map((row, at) => ({
        ...row,
        headerValues: Buffer.from(row.headerValues, 'latin1'),
        body: Buffer.from(row.body.buffer, row.body.byteOffset, row.body.length),
        id: ids[at] ?? 0,
        imported: true,
        dispatchState: 'NotAttempted',
      })),
    )
    .execute()
  const bytes = rows.reduce((sum, { body }) => sum + body.length, 0)
  const storageBytes = rows.reduce((sum, row) => sum + row.storageBytes, 0)
  const newest = rows.reduce((time, { receivedAt }) => Math.max(time, receivedAt.getTime()), 0)
  await sql`
    update endpoint_counters set
      stored_request_count = stored_request_count + ${rows.length},
      stored_bytes = stored_bytes + ${bytes},
      storage_bytes = storage_bytes + ${storageBytes},
      last_request_at = greatest(last_request_at, ${new Date(newest)}::timestamptz)
    where endpoint_id = ${endpointId}`.execute(trx)
  await announceEndpointChange(trx, endpointId)
  return { firstId: ids[0] ?? 0, lastId: ids.at(-1) ?? 0 }
}
