import { closeIncidents, closeIncidentsSilently } from '../../alerts/index.ts'
import type { Services } from '../../api/services.ts'
import { run, statement, type Trx } from '../../platform/db/index.ts'
import { storedPolicy } from '../policy.ts'
import { free } from './held.ts'

type ControlServices = Pick<Services, 'clock' | 'enqueue'>

/** Kinds of incidents that an action's flow opens. */
export const FLOW_INCIDENTS = ['delivery.held', 'delivery.backlog', 'breaker.opened'] as const

const WAIT_FOR_FLOW = statement('wait for flow', 'select from action_flows where action_id = $1 for update')

const CLOSE_BREAKER = statement(
  'close breaker',
  `update action_flows set breaker = 'closed', failures = '{}', opened_at = null, next_probe_at = null
  where action_id = $1 and (breaker <> 'closed' or failures <> '{}')`,
)

/** Waits for a look at the flow that is under way, and keeps others out until the transaction ends: after it no attempt begins by old settings. */
export async function lockFlow(trx: Trx, actionId: string): Promise<void> {
  await run(trx, WAIT_FOR_FLOW, [actionId])
}

/**
 * Applies a new policy of an action to its waiting deliveries. Without a `hold` no key stays held, and without a breaker none is open. Deliveries
 * that were queued under an order keep their places.
 */
export async function applyPolicy(
  services: ControlServices,
  trx: Trx,
  actionId: string,
  policyText: string | null,
): Promise<void> {
  const { order, breaker, backlogAlertSeconds } = storedPolicy(policyText)
  if (order?.onDeadLetter !== 'hold') await free(services, trx, actionId, null)
  if (!breaker) {
    await run(trx, CLOSE_BREAKER, [actionId])
    await closeIncidents(services, trx, { kind: 'breaker.opened', subjectIds: [actionId] })
  }
  if (!backlogAlertSeconds)
    await closeIncidentsSilently(services, trx, { kind: 'delivery.backlog', subjectIds: [actionId] })
}

/** Closes what the flows of deleted actions have opened, without a word. */
export async function closeFlowIncidents(
  services: ControlServices,
  trx: Trx,
  actionIds: readonly string[],
): Promise<void> {
  for (const kind of FLOW_INCIDENTS)
    await closeIncidentsSilently(services, trx, { kind, subjectIds: actionIds })
}
