import { sql } from 'kysely'
import { countAttempts } from '../deliveries/index.ts'
import { updateCounters } from '../endpoints/index.ts'
import { type RowsOf, run, statement, type Trx } from '../platform/db/index.ts'
import { lockCounters, measuredBytes, storageBytesOf } from '../requests/index.ts'
import { BATCH_ROWS, inBatches, type SweepServices, sweepTransaction } from './endpointsToSweep.ts'

const FIND_UNCOUNTED = statement(
  'find uncounted rows',
  `select endpoint_id, kind from uncounted_rows order by endpoint_id, kind`,
  { isPrepared: false },
)

type Uncounted = RowsOf<typeof FIND_UNCOUNTED>

/**
 * Counts the bytes of rows that were stored before every byte was counted, newest first, each row once.
 * `uncounted_rows` records the progress, so it may be interrupted at any time, and several workers may do it at once.
 * When it is finished, a run only reads an empty table.
 */
export async function countRows({ db }: SweepServices, signal: AbortSignal): Promise<void> {
  const rows = await run(db, FIND_UNCOUNTED, [])
  for (const one of rows) {
    const count = one.kind === 'requests' ? countRequests : countOldAttempts
    await inBatches(signal, () => sweepTransaction(db, (trx) => count(trx, one.endpointId)))
    if (signal.aborted) return
  }
}

const MEASURED = measuredBytes('r')
/** The bytes in the row before the update. */
const KNOWN = storageBytesOf('r')

const COUNT_REQUESTS = statement(
  'count uncounted requests',
  `with batch as (
    select r.id from uncounted_rows u
    cross join lateral (
      select id from requests where endpoint_id = u.endpoint_id and id <= u.up_to order by id desc limit ${BATCH_ROWS}
    ) r
    where u.endpoint_id = $1 and u.kind = 'requests'
  ), counted as (
    update requests r set storage_bytes = ${MEASURED}
    from batch where r.endpoint_id = $1 and r.id = batch.id and r.storage_bytes is null and ${MEASURED} > ${KNOWN}
    returning r.id, r.deleted_at is null and r.hidden_at is null as is_stored
  ), counters as (
    ${updateCounters({ uncountedBytes: 'more.bytes' })}
    from (
      select sum(${MEASURED} - ${KNOWN}) as bytes
      from counted join requests r on r.endpoint_id = $1 and r.id = counted.id
      where counted.is_stored
    ) more
    where c.endpoint_id = $1 and more.bytes is not null
  )
  select min(id) as lowest_id from batch`,
  { isPrepared: false },
)

/**
 * Updates only rows with more than 1 KiB stored in addition to the body. Smaller ones are counted without an update.
 */
async function countRequests(trx: Trx, endpointId: string): Promise<boolean> {
  await lockCounters(trx, endpointId)
  const rows = await run(trx, COUNT_REQUESTS, [endpointId])
  return await haveCounted(trx, { endpointId, kind: 'requests' }, rows[0]?.lowestId ?? null)
}

const FIND_ATTEMPTS = statement(
  'find uncounted attempts',
  `select a.id from uncounted_rows u
  cross join lateral (
    select id from delivery_attempts where endpoint_id = u.endpoint_id and id <= u.up_to order by id desc limit ${BATCH_ROWS}
  ) a
  where u.endpoint_id = $1 and u.kind = 'attempts'`,
  { isPrepared: false },
)

async function countOldAttempts(trx: Trx, endpointId: string): Promise<boolean> {
  const rows = await run(trx, FIND_ATTEMPTS, [endpointId])
  const ids = rows.map(({ id }) => id)
  await countAttempts(trx, endpointId, ids)
  return await haveCounted(trx, { endpointId, kind: 'attempts' }, ids.at(-1) ?? null)
}

/** Records that all rows from this id on are counted; null: there are no others. Returns whether there is more. */
async function haveCounted(
  trx: Trx,
  { endpointId, kind }: Uncounted,
  lowestId: number | null,
): Promise<boolean> {
  if (lowestId === null) {
    await sql`delete from uncounted_rows where endpoint_id = ${endpointId} and kind = ${kind}`.execute(trx)
    return false
  }
  await sql`
    update uncounted_rows set up_to = least(up_to, ${lowestId - 1})
    where endpoint_id = ${endpointId} and kind = ${kind}`.execute(trx)
  return true
}
