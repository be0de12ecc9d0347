import { sql } from 'kysely'
import { endDeliveries } from '../deliveries/index.ts'
import { updateCounters } from '../endpoints/index.ts'
import { type Db, type RowsOf, run, statement, type Trx } from '../platform/db/index.ts'
import { forgetOriginals, lockCounters, originalBytesOf, storageBytesOf } from '../requests/index.ts'
import { type Eviction, evictEach, type SweepServices, sweepTransaction } from './endpointsToSweep.ts'
import {
  hideUndelivered,
  lockPending,
  removeDeliveries,
  removeDeliveryRecords,
  removeRecords,
  removeRequests,
} from './removal.ts'

/**
 * Evicts some of the oldest stored requests: as few as needed to free `bytes`, and at most some hundred. The records of
 * their attempts are deleted, too. A request with deliveries due is hidden, and its bytes stay until they have ended.
 *
 * @returns the number of evicted requests; 0 if there are none left
 */
export async function evictOldest(eviction: Eviction, bytes: number): Promise<number> {
  const { db } = eviction
  const oldest = async (of: readonly unknown[]) => {
    for (;;) {
      const { requests, firstIds } = await findOldestStored(db, of)
      if (firstIds.length > 0) await raiseMarks(db, firstIds)
      if (requests.length > 0 || firstIds.length === 0) return fewest(requests, bytes)
    }
  }
  return await evictEach(eviction, oldest, (trx, endpointId, of) => evict(eviction, trx, endpointId, of))
}

/**
 * Brings the marks (lowest stored id) of endpoints with a recycle bin up to date. Every id below a mark is older than
 * everything the endpoint stores.
 */
export async function raiseMarksOfBins({ db, failed }: Eviction, workspaceId: string): Promise<void> {
  const bin = await db
    .selectFrom('endpointCounters as c')
    .innerJoin('endpoints as e', 'e.id', 'c.endpointId')
    .where('e.workspaceId', '=', workspaceId)
    .where('c.binnedRequestCount', '>', 0)
    .select('c.endpointId')
    .limit(1)
    .executeTakeFirst()
  if (bin === undefined) return
  const { firstIds } = await findOldestStored(db, [workspaceId, [...failed]])
  const ofBins = firstIds.filter(({ hasBin }) => hasBin)
  if (ofBins.length > 0) await raiseMarks(db, ofBins)
}

/** The first rows whose bytes suffice. */
export function fewest<Row extends { readonly bytes: number }>(rows: readonly Row[], bytes: number): Row[] {
  let freed = 0
  return rows.filter((row) => {
    const isNeeded = freed < bytes
    freed += row.bytes
    return isNeeded
  })
}

async function evict(
  services: SweepServices,
  trx: Trx,
  endpointId: string,
  requests: readonly { readonly id: number }[],
): Promise<void> {
  const ids = requests.map(({ id }) => id)
  await lockCounters(trx, endpointId)
  const hidden = await hideUndelivered(trx, { endpointId, ids, state: 'stored', now: services.clock.now() })
  const removed = await removeRequests(trx, {
    endpointId,
    ids: ids.filter((id) => !hidden.includes(id)),
    state: 'stored',
  })
  await removeDeliveries(services, trx, endpointId, removed)
  await forgetOriginals(trx, endpointId, removed)
  await removeRecords(trx, endpointId, { requestIds: [...hidden, ...removed] })
  await sql`
    ${sql.raw(updateCounters({ evicted: 'n.requests', removedUpTo: 'n.newest_id' }))}
    from (
      select count(*) as requests, max(id) as newest_id from unnest(${[...hidden, ...removed]}::bigint[]) as id
    ) n
    where c.endpoint_id = ${endpointId}`.execute(trx)
}

/** Raises marks, except those that changed meanwhile: a restore lowers a mark. */
async function raiseMarks(db: Db, marks: Awaited<ReturnType<typeof findOldestStored>>['firstIds']) {
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
  where r.hidden_at is not null and ($1::uuid is null or e.workspace_id = $1) and e.id <> all($2::uuid[])
  order by r.id limit ${HIDDEN_AT_ONCE}`,
  { isPrepared: false },
)

/**
 * Ends the deliveries of some of the oldest hidden requests as dead letters (`evicted`), and deletes the requests.
 *
 * @returns the number of deleted requests
 */
export async function evictHidden(eviction: Eviction): Promise<number> {
  const oldest = (of: readonly unknown[]) => run(eviction.db, OLDEST_HIDDEN, of)
  return await evictEach(eviction, oldest, async (trx, endpointId, of) => {
    const ids = of.map(({ id }) => id)
    const binned = of.filter(({ wasBinned }) => wasBinned).map(({ id }) => id)
    await lockCounters(trx, endpointId)
    await lockPending(trx, endpointId, binned)
    await endDeliveries(eviction, trx, { endpointId, requestIds: ids }, 'evicted')
    await removeDeliveries(eviction, trx, endpointId, ids)
    await forgetOriginals(trx, endpointId, ids)
    await removeRequests(trx, { endpointId, ids, state: 'hidden' })
    await removeRecords(trx, endpointId, { requestIds: ids })
    await removeDeliveryRecords(eviction, trx, endpointId, binned)
  })
}

const ENDPOINTS_AT_ONCE = 100
const REQUESTS_OF_EACH = 100

/**
 * SQL for the endpoints with the most bytes of attempts, each with its mark; one without stored requests has none. The
 * parameters are those of {@link Eviction}.
 */
export const LARGEST_OF_ATTEMPTS = `
  select c.endpoint_id,
    case when c.stored_request_count > 0 then c.oldest_request_id else ${Number.MAX_SAFE_INTEGER}::bigint end as mark
  from (select endpoint_id, sum(bytes) as bytes from attempt_bytes group by endpoint_id) b
  join endpoint_counters c on c.endpoint_id = b.endpoint_id
  join endpoints e on e.id = c.endpoint_id
  where b.bytes > 0 and e.deleted_at is null and ($1::uuid is null or e.workspace_id = $1) and e.id <> all($2::uuid[])
  order by b.bytes desc limit ${ENDPOINTS_AT_ONCE}`

/** SQL for the bytes of the original of a request. */
const bytesOfOriginal = (row: string) => `coalesce((
  select ${originalBytesOf('g')} from request_originals g where g.endpoint_id = ${row}.endpoint_id and g.request_id = ${row}.id
), 0)`

/** SQL for the bytes of an attempt and of its record. */
export const attemptBytes = (row: string) => `(coalesce(${row}.storage_bytes, 0) + coalesce((
  select d.storage_bytes from attempt_details d where d.endpoint_id = ${row}.endpoint_id and d.attempt_id = ${row}.id
), 0))::bigint`

/** Many, because finding them, and how much is stored, reads all that is binned. */
const OLDEST_BINNED = statement(
  'oldest binned requests',
  `select endpoint_id, id, (${storageBytesOf('requests')} + ${bytesOfOriginal('requests')})::bigint as bytes from requests
  where deleted_at is not null and hidden_at is null and $1::uuid is null and endpoint_id <> all($2::uuid[])
  order by deleted_at limit 1000`,
  { isPrepared: false },
)

/**
 * Searched by attempts, because of binned requests only the attempts count for a workspace. A bin may have a million
 * requests without any. One whose deliveries are due would free nothing, and stays.
 */
const OLDEST_BINNED_OF = statement(
  'oldest binned requests of a workspace with attempts',
  `select m.endpoint_id, a.request_id as id, sum(a.bytes)::bigint as bytes
  from (${LARGEST_OF_ATTEMPTS}) m
  cross join lateral (
    select t.request_id, ${attemptBytes('t')} as bytes from delivery_attempts t
    where t.endpoint_id = m.endpoint_id and t.request_id < m.mark and t.state <> 'Pending' and exists (
      select from requests r
      where r.endpoint_id = t.endpoint_id and r.id = t.request_id and r.deleted_at is not null and r.hidden_at is null
    ) and not exists (
      select from deliveries d
      where d.endpoint_id = t.endpoint_id and d.request_id = t.request_id and d.finished_at is null
    )
    order by t.request_id, t.id limit ${2 * REQUESTS_OF_EACH}
  ) a
  group by m.endpoint_id, a.request_id
  order by a.request_id`,
  { isPrepared: false },
)

/**
 * Deletes some of the requests that have been in the recycle bin longest, as few as needed to free `bytes`; one with
 * deliveries due is hidden. The endpoints count them, so that the bin can report them. For a workspace, only
 * binned requests with attempts are deleted, and only those older than everything their endpoint stores.
 *
 * @returns the number of requests that left the bin
 */
export async function emptyBin(eviction: Eviction, bytes: number): Promise<number> {
  const statementOf = eviction.workspaceId === null ? OLDEST_BINNED : OLDEST_BINNED_OF
  const oldest = async (of: readonly unknown[]) => fewest(await run(eviction.db, statementOf, of), bytes)
  return await evictEach(eviction, oldest, async (trx, endpointId, of) => {
    const all = of.map(({ id }) => id)
    await lockCounters(trx, endpointId)
    const now = eviction.clock.now()
    const hidden = await hideUndelivered(trx, { endpointId, ids: all, state: 'binned', now })
    const ids = all.filter((id) => !hidden.includes(id))
    const removed = await removeRequests(trx, { endpointId, ids, state: 'binned' })
    await removeDeliveryRecords(eviction, trx, endpointId, removed)
    await forgetOriginals(trx, endpointId, removed)
    const evictedCount = hidden.length + removed.length
    await sql`
      ${sql.raw(updateCounters({ binEvicted: { count: 'n.requests', at: 'n.now' } }))}
      from (select ${evictedCount}::int as requests, ${now}::timestamptz as now) n
      where c.endpoint_id = ${endpointId} and n.requests > 0`.execute(trx)
  })
}

const OLDEST = statement(
  'oldest stored requests',
  `select m.endpoint_id, m.oldest_request_id as mark, m.has_bin, r.id, r.bytes
  from (
    select c.endpoint_id, c.oldest_request_id, c.binned_request_count > 0 as has_bin from endpoint_counters c join endpoints e on e.id = c.endpoint_id
    where c.stored_request_count > 0 and ($1::uuid is null or e.workspace_id = $1) and e.id <> all($2::uuid[])
    order by c.oldest_request_id, c.endpoint_id limit ${ENDPOINTS_AT_ONCE + 1}
  ) m
  left join lateral (
    select o.id, (${storageBytesOf('o')} + coalesce((
      select sum(d.storage_bytes) from attempt_details d where d.endpoint_id = o.endpoint_id and d.request_id = o.id
    ), 0) + ${bytesOfOriginal('o')})::bigint as bytes
    from requests o
    where o.endpoint_id = m.endpoint_id and o.id >= m.oldest_request_id and o.deleted_at is null and o.hidden_at is null
    order by o.id limit ${REQUESTS_OF_EACH}
  ) r on true
  order by m.oldest_request_id, m.endpoint_id, r.id`,
  { isPrepared: false },
)

/**
 * Finds the oldest stored requests. Ids increase in the order of arrival, across all
 * endpoints. An endpoint's mark is a lower bound of its stored ids. So the search reads the endpoints with the lowest
 * marks, and the requests that it finds below the marks of all others are the oldest.
 *
 * @returns `requests`, oldest first, each with the bytes that its eviction frees; none although there are some where the
 *   marks are outdated. `firstIds`: the oldest stored requests of endpoints with a lower mark, to be stored as their marks
 */
async function findOldestStored(db: Db, of: readonly unknown[]) {
  const rows = await run(db, OLDEST, of)
  const byEndpoint = [...Map.groupBy(rows, ({ endpointId }) => endpointId).values()]
  // Endpoints after the last one were not read.
  const unknown = byEndpoint.length > ENDPOINTS_AT_ONCE ? byEndpoint.pop() : undefined
  const horizon = Math.min(unknown?.[0]?.mark ?? Number.MAX_SAFE_INTEGER, ...byEndpoint.map(knownUpTo))
  const requests = byEndpoint
    .flat()
    .flatMap(({ endpointId, id, bytes }) =>
      id === null || id > horizon ? [] : [{ endpointId, id, bytes: bytes ?? 0 }],
    )
    .sort((a, b) => a.id - b.id)
  const firstIds = byEndpoint.flatMap(([first]) =>
    first === undefined || first.id === null || first.id === first.mark
      ? []
      : [{ endpointId: first.endpointId, mark: first.mark, firstId: first.id, hasBin: first.hasBin }],
  )
  return { requests, firstIds }
}

/** The id up to which the rows contain all of an endpoint's requests. */
function knownUpTo(rows: readonly RowsOf<typeof OLDEST>[]): number {
  const last = rows.at(-1)?.id
  return rows.length < REQUESTS_OF_EACH || last === null || last === undefined
    ? Number.MAX_SAFE_INTEGER
    : last
}
