import type { Services } from '../api/services.ts'
import { run, statement, type Trx } from '../platform/db/index.ts'
import { attemptNow } from './openDeliveries.ts'

/** Open deliveries of the action `$1` that a rule has held since their latest attempt. */
const FIND_HELD = statement(
  'find deliveries held by rules',
  `select d.id, d.workspace_id, d.action_id, d.flow_state
  from deliveries d
  join delivery_attempts t on t.delivery_id = d.id and t.attempt_number = d.attempt_count
  where d.action_id = $1::uuid and d.flow_state = 'waiting' and t.error ~ '^rule_(disabled|fault)'
  order by d.id`,
)

/** Retries deliveries that an action's rules have held, now that none of them holds any more. */
export async function releaseHeld(
  services: Pick<Services, 'enqueue' | 'clock'>,
  trx: Trx,
  actionId: string,
): Promise<void> {
  await attemptNow(services, trx, await run(trx, FIND_HELD, [actionId]))
}
