import { raiseSingle } from '../alerts/index.ts'
import type { Services } from '../api/services.ts'
import { updateCounters } from '../endpoints/index.ts'
import { run, statement } from '../platform/db/index.ts'

/** Shortest time between two alerts of an endpoint. Each alert has the number of rejections since the one before. */
export const REJECTION_ALERT_SECONDS = 3600

const FIND_REJECTING = statement(
  'find rejecting endpoints',
  `with due as (
    select endpoint_id, rejected_since_alert, $1::timestamptz as now from endpoint_counters
    where endpoint_id = any ($2::uuid[]) and rejected_since_alert > 0
      and (rejection_alerted_at is null or rejection_alerted_at <= $3)
    order by endpoint_id for update
  ), noted as (
    ${updateCounters({ rejectionsAlertedAt: 'due.now' })}
    from due where c.endpoint_id = due.endpoint_id
  )
  select e.id, e.name, e.workspace_id, due.rejected_since_alert as count
  from due join endpoints e on e.id = due.endpoint_id`,
  { isPrepared: false },
)

/**
 * Raises `capture.rejected` for endpoints that answered 429: at the first rejection, then at most once an hour. If
 * several gateways report the same, it is raised once. Best effort: an error is logged, and the next rejection reports
 * again.
 */
export async function tellOfRejections(
  services: Pick<Services, 'db' | 'clock' | 'enqueue' | 'log'>,
  endpointIds: readonly string[],
): Promise<void> {
  const now = services.clock.now()
  const dueSince = new Date(now.getTime() - REJECTION_ALERT_SECONDS * 1000)
  try {
    await services.db.transaction().execute(async (trx) => {
      const rows = await run(trx, FIND_REJECTING, [now, endpointIds, dueSince])
      for (const { id, name, workspaceId, count } of rows) {
        const endpoint = { id, name }
        await raiseSingle(services, trx, {
          kind: 'capture.rejected',
          workspaceId,
          subject: endpoint,
          endpoint,
          requestId: null,
          reason: null,
          count,
        })
      }
    })
  } catch (error) {
    services.log.warn({ err: error }, 'rejected captures could not be reported')
  }
}
