import { sql } from 'kysely'
import { endDeliveries } from '../deliveries/index.ts'
import { updateCounters } from '../endpoints/index.ts'
import { type Db, run, statement, type Trx } from '../platform/db/index.ts'
import { lockCounters } from '../requests/index.ts'
import { type SweepServices, sweepTransaction } from './endpointsToSweep.ts'
import { findOldestStored, type Mark, type OldestRequest } from './oldestStored.ts'
import {
  hideUndelivered,
  removeDeliveries,
  removeDeliveryRecords,
  removeRecords,
  removeRequests,
} from './removal.ts'

/**
 * Evicts some of the oldest stored requests of a workspace, or of all: as few as needed to free `bytes`, and at most
 * some hundred. The records of their attempts are deleted, too. A request with deliveries due is hidden, and its bytes
 * stay until they have ended.
 *
 * @returns the number of evicted requests; 0 if there are none left
 */
export async function evictOldest(
  services: SweepServices,
  workspaceId: string | null,
  bytes: number,
): Promise<number> {
  const { requests, firstIds } = await findOldestStored(services.db, workspaceId)
  if (firstIds.length > 0) await raiseMarks(services.db, firstIds)
  if (requests.length === 0) {
    return firstIds.length === 0 ? 0 : await evictOldest(services, workspaceId, bytes)
  }
  const evicted = fewest(requests, bytes)
  for (const [endpointId, of] of Map.groupBy(evicted, (request) => request.endpointId)) {
    const ids = of.map(({ id }) => id)
    await sweepTransaction(services.db, (trx) => evict(services, trx, endpointId, ids))
  }
  return evicted.length
}

/** The first requests whose bytes suffice. */
function fewest(requests: readonly OldestRequest[], bytes: number): OldestRequest[] {
  let freed = 0
  return requests.filter((request) => {
    const isNeeded = freed < bytes
    freed += request.bytes
    return isNeeded
  })
}

async function evict(
  services: SweepServices,
  trx: Trx,
  endpointId: string,
  ids: readonly number[],
): Promise<void> {
  await lockCounters(trx, endpointId)
  const hidden = await hideUndelivered(trx, { endpointId, ids, state: 'stored', now: services.clock.now() })
  const removed = await removeRequests(trx, {
    endpointId,
    ids: ids.filter((id) => !hidden.includes(id)),
    state: 'stored',
  })
  await removeDeliveries(services, trx, endpointId, removed)
  await removeRecords(trx, endpointId, { requestIds: [...hidden, ...removed] })
  await sql`
    ${sql.raw(updateCounters({ evicted: 'n.requests', removedUpTo: 'n.newest_id' }))}
    from (
      select count(*) as requests, max(id) as newest_id from unnest(${[...hidden, ...removed]}::bigint[]) as id
    ) n
    where c.endpoint_id = ${endpointId}`.execute(trx)
}

/** Raises marks, except those that changed meanwhile: a restore lowers a mark. */
async function raiseMarks(db: Db, marks: readonly Mark[]): Promise<void> {
  await sweepTransaction(db, (trx) =>
    sql`
      with locked as (
        select endpoint_id from endpoint_counters where endpoint_id = any(${marks.map(({ endpointId }) => endpointId)}::uuid[])
        order by endpoint_id for update
      )
      ${sql.raw(updateCounters({ oldestRequestId: 'm.first_id' }))}
      from locked l join unnest(
        ${marks.map(({ endpointId }) => endpointId)}::uuid[], ${marks.map(({ mark }) => mark)}::bigint[],
        ${marks.map(({ firstId }) => firstId)}::bigint[]
      ) as m (endpoint_id, mark, first_id) on m.endpoint_id = l.endpoint_id
      where c.endpoint_id = m.endpoint_id and c.oldest_request_id = m.mark`.execute(trx),
  )
}

const HIDDEN_AT_ONCE = 50

const OLDEST_HIDDEN = statement(
  'oldest hidden requests',
  `select r.endpoint_id, r.id, r.deleted_at is not null as was_binned
  from requests r join endpoints e on e.id = r.endpoint_id
  where r.hidden_at is not null and ($1::uuid is null or e.workspace_id = $1)
  order by r.id limit ${HIDDEN_AT_ONCE}`,
  { isPrepared: false },
)

/**
 * Ends the deliveries of some of the oldest hidden requests as dead letters (`evicted`), and deletes the requests.
 *
 * @returns the number of deleted requests
 */
export async function evictHidden(services: SweepServices, workspaceId: string | null): Promise<number> {
  const rows = await run(services.db, OLDEST_HIDDEN, [workspaceId])
  for (const [endpointId, of] of Map.groupBy(rows, (row) => row.endpointId)) {
    const ids = of.map(({ id }) => id)
    const binned = of.filter(({ wasBinned }) => wasBinned).map(({ id }) => id)
    await sweepTransaction(services.db, async (trx) => {
      await endDeliveries(services, trx, { endpointId, requestIds: ids }, 'evicted')
      await removeDeliveries(services, trx, endpointId, ids)
      await removeRequests(trx, { endpointId, ids, state: 'hidden' })
      await removeRecords(trx, endpointId, { requestIds: ids })
      await removeDeliveryRecords(services, trx, endpointId, binned)
    })
  }
  return rows.length
}

const OLDEST_BINNED = statement(
  'oldest binned requests',
  `select endpoint_id, id from requests where deleted_at is not null and hidden_at is null
  order by deleted_at limit ${HIDDEN_AT_ONCE}`,
  { isPrepared: false },
)

/**
 * Deletes some of the requests that have been in the recycle bin longest; one with deliveries due is hidden. The
 * endpoints count them, so that the bin can report them.
 *
 * @returns the number of requests that left the bin
 */
export async function emptyBin(services: SweepServices): Promise<number> {
  const rows = await run(services.db, OLDEST_BINNED, [])
  for (const [endpointId, of] of Map.groupBy(rows, (row) => row.endpointId)) {
    const all = of.map(({ id }) => id)
    await sweepTransaction(services.db, async (trx) => {
      await lockCounters(trx, endpointId)
      const now = services.clock.now()
      const hidden = await hideUndelivered(trx, { endpointId, ids: all, state: 'binned', now })
      const ids = all.filter((id) => !hidden.includes(id))
      const removed = await removeRequests(trx, { endpointId, ids, state: 'binned' })
      await removeDeliveryRecords(services, trx, endpointId, removed)
      const evictedCount = hidden.length + removed.length
      await sql`
        ${sql.raw(updateCounters({ binEvicted: { count: 'n.requests', at: 'n.now' } }))}
        from (select ${evictedCount}::int as requests, ${now}::timestamptz as now) n
        where c.endpoint_id = ${endpointId} and n.requests > 0`.execute(trx)
    })
  }
  return rows.length
}
