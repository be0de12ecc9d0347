import type { Services } from '../api/services.ts'
import { run, statement } from '../platform/db/index.ts'
import { ENDED_KEPT } from './bounds.ts'
import { endInvalid } from './end.ts'

const SWEEP = statement(
  'sweep event deliveries',
  `delete from event_deliveries d using (
    select s.id, (
      select e.id from event_deliveries e where e.subscription_id = s.id and e.state <> 'waiting'
      order by e.id desc offset ${ENDED_KEPT} limit 1
    ) as last_id
    from event_subscriptions s
  ) old
  where d.subscription_id = old.id and d.id <= old.last_id and d.state <> 'waiting'`,
)

/** Ends subscriptions that have expired, and deletes old messages that were sent or given up. */
export async function sweepSubscriptions(services: Services): Promise<void> {
  await endInvalid(services)
  await run(services.db, SWEEP, [])
}
