import { run, statement } from '../platform/db/index.ts'
import type { EndpointToSweep } from './endpointsToSweep.ts'
import { sweptRows } from './metrics.ts'
import { BATCH_ROWS, inBatches, type SweepServices, sweepTransaction } from './pace.ts'
import { removeAttempts, removeRecords } from './removal.ts'

/** Deletes attempts that are older than the plan's retention, oldest first. */
export async function sweepAttempts(
  { db }: SweepServices,
  { endpointId, keptSince }: EndpointToSweep,
  signal: AbortSignal,
): Promise<void> {
  let done = 0
  await inBatches(signal, async () => {
    const attempts = await db
      .selectFrom('deliveryAttempts')
      .where('endpointId', '=', endpointId)
      .where('id', '>', done)
      .select(['id', 'at', 'state'])
      .orderBy('id')
      .limit(BATCH_ROWS)
      .execute()
    const ids = attempts.filter(({ at, state }) => at < keptSince && state !== 'Pending').map(({ id }) => id)
    const last = ids.at(-1)
    if (last === undefined) return false
    await sweepTransaction(db, async (trx) => {
      await removeAttempts(trx, endpointId, { attemptIds: ids })
      sweptRows.inc({ sweep: 'attempts' }, ids.length)
    })
    done = last
    return true
  })
}

const FIND_ORPHANS = statement(
  'find records without a request',
  `select d.attempt_id from endpoint_counters c
  join attempt_details d on d.endpoint_id = c.endpoint_id and d.request_id < c.oldest_request_id
  where c.endpoint_id = $1 and d.sent_body is null and not exists (
    select from requests r where r.endpoint_id = d.endpoint_id and r.id = d.request_id
  )
  limit ${BATCH_ROWS}`,
  { isPrepared: false },
)

/**
 * Deletes the records of attempts without a request, unless they contain the sent body: the others are not shown
 * without the request. Every stored request has an id at or above the endpoint's mark, so only records below it can be
 * orphans.
 */
export async function sweepDetails(
  { db }: SweepServices,
  { endpointId }: EndpointToSweep,
  signal: AbortSignal,
): Promise<void> {
  await inBatches(signal, async () => {
    const rows = await run(db, FIND_ORPHANS, [endpointId])
    if (rows.length === 0) return false
    const ids = rows.map((row) => row.attemptId)
    sweptRows.inc({ sweep: 'details' }, ids.length)
    await sweepTransaction(db, (trx) => removeRecords(trx, endpointId, { attemptIds: ids }))
    return true
  })
}
