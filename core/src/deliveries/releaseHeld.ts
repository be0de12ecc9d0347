import type { Services } from '../api/services.ts'
import { run, statement, type Trx } from '../platform/db/index.ts'
import { attemptNow } from './openDeliveries.ts'

/** Open deliveries of the action `$1` that a rule has held since their latest attempt. */
const FIND_HELD = statement(
  'find deliveries held by rules',
  `select d.id, d.workspace_id, d.action_id, d.attempt_count, d.flow_state, octet_length(r.body) as body_bytes
  from deliveries d
  join delivery_attempts t on t.delivery_id = d.id and t.attempt_number = d.attempt_count
  join requests r on r.endpoint_id = d.endpoint_id and r.id = d.request_id
  where d.action_id = $1::uuid and d.finished_at is null and t.error ~ '^rule_(disabled|fault)'
  order by d.id`,
)

/**
 * Retries deliveries that an action's rules have held, now that none of them holds any more. The scheduled retry then
 * finds nothing to do.
 */
export async function releaseHeld(
  services: Pick<Services, 'enqueue' | 'clock'>,
  trx: Trx,
  actionId: string,
): Promise<void> {
  await attemptNow(services, trx, await run(trx, FIND_HELD, [actionId]))
}
