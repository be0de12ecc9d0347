import { run, statement } from '../platform/db/index.ts'
import { sweptRows } from './metrics.ts'
import { type SweepServices, sweepTransaction } from './pace.ts'
import { removeAttempts } from './removal.ts'

const ENDPOINTS_AT_ONCE = 100
const ATTEMPTS_OF_EACH = 200

const OLDEST = statement(
  'oldest attempts without a request',
  `select m.endpoint_id, a.id, a.bytes
  from (
    select c.endpoint_id,
      case when c.stored_request_count > 0 then c.oldest_request_id else ${Number.MAX_SAFE_INTEGER}::bigint end as mark
    from (select endpoint_id, sum(bytes) as bytes from attempt_bytes group by endpoint_id) b
    join endpoint_counters c on c.endpoint_id = b.endpoint_id
    join endpoints e on e.id = c.endpoint_id
    where b.bytes > 0 and e.deleted_at is null and ($1::uuid is null or e.workspace_id = $1)
    order by b.bytes desc limit ${ENDPOINTS_AT_ONCE}
  ) m
  cross join lateral (
    select t.id, t.request_id, (coalesce(t.storage_bytes, 0) + coalesce((
      select d.storage_bytes from attempt_details d where d.endpoint_id = t.endpoint_id and d.attempt_id = t.id
    ), 0))::bigint as bytes
    from delivery_attempts t
    where t.endpoint_id = m.endpoint_id and t.request_id < m.mark and t.state <> 'Pending' and not exists (
      select from requests r where r.endpoint_id = t.endpoint_id and r.id = t.request_id
    )
    order by t.request_id, t.id limit ${ATTEMPTS_OF_EACH}
  ) a
  order by a.request_id, a.id`,
  { isPrepared: false },
)

/**
 * Deletes some of the oldest attempts without a stored request, with their records, of a workspace or of all: as few as
 * needed to free `bytes`, from the endpoints with the most attempt bytes. These attempts are older than every stored
 * request of their endpoint.
 *
 * @returns the number of deleted attempts; 0 if there are none left
 */
export async function evictAttempts(
  { db }: SweepServices,
  workspaceId: string | null,
  bytes: number,
): Promise<number> {
  // No request is stored below an endpoint's mark; those in the table are binned, or hidden with deliveries still due.
  const rows = await run(db, OLDEST, [workspaceId])
  let freed = 0
  const evicted = rows.filter((row) => {
    const isNeeded = freed < bytes
    freed += row.bytes
    return isNeeded
  })
  for (const [endpointId, of] of Map.groupBy(evicted, (row) => row.endpointId)) {
    const ids = of.map(({ id }) => id)
    await sweepTransaction(db, (trx) => removeAttempts(trx, endpointId, { attemptIds: ids }))
  }
  sweptRows.inc({ sweep: 'attempts' }, evicted.length)
  return evicted.length
}
