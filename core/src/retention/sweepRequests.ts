import { sql } from 'kysely'
import { endDeliveries, keepSentBodies } from '../deliveries/index.ts'
import { updateCounters } from '../endpoints/index.ts'
import { run, statement } from '../platform/db/index.ts'
import { DAY_MS } from '../platform/time/index.ts'
import { BIN_DAYS } from '../recycleBin/index.ts'
import { lockCounters } from '../requests/index.ts'
import { sweptRows } from './declarations.ts'
import {
  BATCH_ROWS,
  type EndpointToSweep,
  inBatches,
  type SweepServices,
  sweepTransaction,
} from './endpointsToSweep.ts'

import {
  hideUndelivered,
  lockPending,
  removeDeliveries,
  removeDeliveryRecords,
  removeRecords,
  removeRequests,
} from './removal.ts'

const OLDEST = statement(
  'oldest stored requests of endpoint',
  `select r.id, r.received_at < $1 as is_expired, r.imported, c.oldest_request_id
  from endpoint_counters c
  cross join lateral (
    select id, received_at, imported from requests
    where endpoint_id = c.endpoint_id and id >= c.oldest_request_id
      and deleted_at is null and hidden_at is null
    order by id limit ${BATCH_ROWS}
  ) r
  where c.endpoint_id = $2`,
  { isPrepared: false },
)

/** Imported requests have any earlier time, so younger captures may have lower ids. Served by `requests_imported`. */
const OLDEST_IMPORTED = statement(
  'oldest imported requests of endpoint',
  `select id from requests
  where endpoint_id = $2 and imported and received_at < $1 and deleted_at is null and hidden_at is null
  order by received_at limit ${BATCH_ROWS}`,
  { isPrepared: false },
)

/**
 * Deletes an endpoint's stored requests that are past the plan's retention, oldest first. Their pending deliveries end
 * as `DeadLetter` with `retention`. Their attempts stay in the delivery list until they are as old themselves.
 */
export async function sweepStored(
  services: SweepServices,
  { endpointId, keptSince }: EndpointToSweep,
  signal: AbortSignal,
): Promise<void> {
  await inBatches(signal, async () => {
    const rows = await run(services.db, OLDEST, [keptSince, endpointId])
    const expired = rows.filter((row) => row.isExpired)
    const first = rows[0]
    if (first === undefined) return false
    const ids = (
      expired.length > 0 ? expired : await run(services.db, OLDEST_IMPORTED, [keptSince, endpointId])
    ).map((row) => row.id)
    if (ids.length === 0) return false
    const captured = new Set(expired.filter((row) => !row.imported).map((row) => row.id))
    const firstKept = rows.find((row) => !row.isExpired)?.id ?? (rows.at(-1)?.id ?? 0) + 1
    await sweepTransaction(services.db, async (trx) => {
      await lockCounters(trx, endpointId)
      await endDeliveries(services, trx, { endpointId, requestIds: ids }, 'retention')
      await removeDeliveries(services, trx, endpointId, ids)
      const removed = await removeRequests(trx, { endpointId, ids, state: 'stored' })
      await removeRecords(trx, endpointId, { requestIds: removed })
      sweptRows.inc({ sweep: 'retention' }, removed.length)
      // The mark stays if a restore moved it meanwhile.
      await sql`
        ${sql.raw(
          updateCounters({
            removedUpTo: 'n.removed_up_to',
            oldestRequestId:
              'case when c.oldest_request_id = n.mark then n.first_kept else c.oldest_request_id end',
          }),
        )}
        from (
          select max(id) as removed_up_to, ${first.oldestRequestId}::bigint as mark, ${firstKept}::bigint as first_kept
          from unnest(${removed.filter((id) => captured.has(id))}::bigint[]) as id
        ) n
        where c.endpoint_id = ${endpointId}`.execute(trx)
    })
    return true
  })
}

/**
 * Deletes binned requests that are past `purgesAt`, with their attempts. One with deliveries due is only hidden for
 * now.
 */
export async function sweepBin(
  services: SweepServices,
  { endpointId, keptSince }: EndpointToSweep,
  signal: AbortSignal,
): Promise<void> {
  await inBatches(signal, async () => {
    const now = services.clock.now()
    const binnedUntil = new Date(now.getTime() - BIN_DAYS * DAY_MS)
    const rows = await services.db
      .selectFrom('requests')
      .where('endpointId', '=', endpointId)
      .where('deletedAt', 'is not', null)
      .where('hiddenAt', 'is', null)
      .where((where) =>
        where.or([where('deletedAt', '<=', binnedUntil), where('receivedAt', '<=', keptSince)]),
      )
      .select('id')
      .orderBy('deletedAt')
      .limit(BATCH_ROWS)
      .execute()
    if (rows.length === 0) return false
    const due = rows.map((row) => row.id)
    await sweepTransaction(services.db, async (trx) => {
      await lockCounters(trx, endpointId)
      const hidden = new Set(await hideUndelivered(trx, { endpointId, ids: due, state: 'binned', now }))
      const ids = due.filter((id) => !hidden.has(id))
      // A restore may have been faster for some of them.
      const removed = await removeRequests(trx, { endpointId, ids, state: 'binned' })
      await removeDeliveryRecords(services, trx, endpointId, removed)
      sweptRows.inc({ sweep: 'bin' }, removed.length)
    })
    return true
  })
}

const FIND_ENDED = statement(
  'find hidden requests to delete',
  `select r.id, r.deleted_at is not null as was_binned from (
    select id, deleted_at, row_number() over (order by id desc) as newest_rank from requests
    where endpoint_id = $1 and hidden_at is not null
  ) r
  where r.newest_rank > $2 or not exists (
    select from deliveries d
    where d.endpoint_id = $1 and d.request_id = r.id and d.finished_at is null
  )
  order by r.id limit ${BATCH_ROWS}`,
  { isPrepared: false },
)

/**
 * Deletes hidden requests whose deliveries have ended. At most as many as the plan's stored-request limit may wait;
 * beyond it, the deliveries of the oldest end as `DeadLetter` with `evicted`.
 */
export async function sweepHidden(
  services: SweepServices,
  { endpointId, storedRequestsMax }: EndpointToSweep,
  signal: AbortSignal,
): Promise<void> {
  await inBatches(signal, async () => {
    const rows = await run(services.db, FIND_ENDED, [endpointId, storedRequestsMax])
    if (rows.length === 0) return false
    const ids = rows.map((row) => row.id)
    // A user deleted these, so nothing of them returns to the lists.
    const binned = rows.filter((row) => row.wasBinned).map((row) => row.id)
    await sweepTransaction(services.db, async (trx) => {
      await lockCounters(trx, endpointId)
      await lockPending(trx, endpointId, binned)
      await endDeliveries(services, trx, { endpointId, requestIds: ids }, 'evicted')
      await removeDeliveries(services, trx, endpointId, ids)
      await keepSentBodies(trx, endpointId, ids)
      const removed = await removeRequests(trx, { endpointId, ids, state: 'hidden' })
      sweptRows.inc({ sweep: 'hidden' }, removed.length)
      await removeDeliveryRecords(services, trx, endpointId, binned)
    })
    return true
  })
}
