import { closeIncidents, closeIncidentsSilently } from '../../alerts/index.ts'
import type { Services } from '../../api/services.ts'
import { run, statement, type Trx } from '../../platform/db/index.ts'
import { storedPolicy } from '../policy.ts'
import { free } from './held.ts'

/** Kinds of incidents about an action. */
export const ACTION_INCIDENTS = [
  'certificate.expiring',
  'delivery.parked',
  'delivery.failing',
  'delivery.held',
  'delivery.backlog',
  'breaker.opened',
] as const

const WAIT_FOR_FLOW = statement('wait for flow', 'select from action_flows where action_id = $1 for update')

const CLOSE_BREAKER = statement(
  'close breaker',
  `update action_flows set breaker = 'closed', failures = '{}', opened_at = null, next_probe_at = null
  where action_id = $1 and (breaker <> 'closed' or failures <> '{}')`,
)

/**
 * Locks the flow of an action until the transaction ends, after any look at it that is in progress. No attempt begins
 * under the old settings after this transaction.
 */
export async function lockFlow(trx: Trx, actionId: string): Promise<void> {
  await run(trx, WAIT_FOR_FLOW, [actionId])
}

/**
 * Applies a new policy of an action to its waiting deliveries. Without `hold` every held key is freed. Without a
 * breaker the open one is closed. Deliveries that were queued under an order keep their places.
 */
export async function applyPolicy(
  services: Pick<Services, 'clock' | 'enqueue'>,
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
  if (!backlogAlertSeconds) await closeIncidentsSilently(services, trx, 'delivery.backlog', [actionId])
}
