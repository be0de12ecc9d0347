import { closeIncidents, openIncident } from '../../alerts/index.ts'
import type { Services } from '../../api/services.ts'
import { retryAfterOf, retryAfterSeconds } from '../../dispatch/index.ts'
import type { AttemptState } from '../../engine/words/index.ts'
import { run, statement, type Trx } from '../../platform/db/index.ts'
import { type Ended, hasSucceeded, occasionOf } from '../attempt.ts'
import type { DeliveryPolicy } from '../policy.ts'
import { GONE } from '../states.ts'
import { breakerAfter } from './breaker.ts'
import { freeHeld, freeUnheld, tellHeld } from './held.ts'
import { lockFlow } from './upkeep.ts'
import { flowSignal } from './wake.ts'

/** Statuses whose `Retry-After` delays the whole action. */
const SLOWING_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504])

const LOCK_BREAKER = statement(
  'lock breaker',
  `select breaker, failures, opened_at, next_probe_at, closed_at from action_flows
  where action_id = $1 and ($2::boolean or breaker <> 'closed') for update`,
)

/** Changes nothing if the policy has no breaker any more. As a statement after the lock it sees the present policy. */
const WRITE_BREAKER = statement(
  'write breaker',
  `update action_flows set breaker = $2, failures = $3::timestamptz[], opened_at = $4, next_probe_at = $5, closed_at = $6
  where action_id = $1 and exists (
    select from actions where id = $1 and delivery_policy::jsonb -> 'breaker' is not null)
  returning action_id`,
)

/** Only if the receiver that asked, at `$3`, is still the one of the action. */
const SLOW_DOWN = statement(
  'slow down flow',
  `update action_flows set not_before = greatest(not_before, $2::timestamptz)
  where action_id = $1 and exists (select from actions where id = $1 and governed and url = $3)`,
)

/** Whether the end of an attempt may change the flow of its action or free a key. */
export function concernsFlow({ attempt: { action, trigger } }: Ended): boolean {
  if (!action.isGoverned) return false
  return Boolean(action.policy.breaker) || (trigger !== 'capture' && holdsKeys(action.policy))
}

/**
 * Applies ended attempts to the flows of their actions, in the transaction that records them: breakers open and close,
 * a `Retry-After` delays the flow, and keys are held or freed.
 */
export async function recordOutcomes(
  services: Services,
  trx: Trx,
  ended: readonly (Ended & { readonly outcome: { readonly state: AttemptState } })[],
): Promise<void> {
  // A fixed order of locks prevents deadlocks between batches.
  const groups = [...Map.groupBy(ended, ({ attempt }) => attempt.action.id)].sort()
  for (const [actionId, group] of groups) {
    const governed = group.filter(({ attempt }) => attempt.action.isGoverned)
    await slowDown(trx, actionId, governed)
    await moveBreaker(services, trx, actionId, governed)
    // Whether they hold their keys follows from the present policy, not from that of their attempts.
    const deadLetters = group
      .filter(({ outcome }) => outcome.state === 'DeadLetter')
      .map((one) => ({ deliveryId: one.attempt.deliveryId, ...occasionOf(one) }))
    await freeUnheld(services, trx, actionId, deadLetters)
    const succeeded = governed.filter((one) => hasSucceeded(one) && holdsKeys(one.attempt.action.policy))
    await freeHeld(services, trx, succeeded.map(attemptOf))
    await tellHeld(services, trx, deadLetters)
  }
}

/** Whether the action of an attempt was governed: its end lets others of the lane start. */
export const isOfGoverned = ({ attempt }: Pick<Ended, 'attempt'>): boolean => attempt.action.isGoverned

/** Signals for the lanes of ended attempts. Announce them once the ends are committed. */
export function endSignals(ended: readonly Pick<Ended, 'attempt'>[]): string[] {
  return [
    ...new Set(
      ended.map(({ attempt: { action, workspaceId } }) =>
        flowSignal(action.policy.breaker ? 'change' : 'end', { id: action.id, workspaceId }),
      ),
    ),
  ]
}

function holdsKeys({ order }: DeliveryPolicy): boolean {
  return order?.onDeadLetter === 'hold'
}

const attemptOf = ({ attempt }: Ended) => attempt

async function slowDown(trx: Trx, actionId: string, group: readonly Ended[]): Promise<void> {
  const asked = group.flatMap(({ attempt, result: { received, finishedAt } }) => {
    if (received === null || !SLOWING_STATUSES.has(received.statusCode)) return []
    const seconds = retryAfterSeconds(retryAfterOf(received.headers), finishedAt)
    return seconds === null ? [] : [{ url: attempt.action.url, until: finishedAt.getTime() + seconds * 1000 }]
  })
  // A change of the action that is in progress comes first.
  if (asked.length > 0) await lockFlow(trx, actionId)
  for (const [url, ofUrl] of Map.groupBy(asked, (one) => one.url))
    await run(trx, SLOW_DOWN, [actionId, new Date(Math.max(...ofUrl.map(({ until }) => until))), url])
}

async function moveBreaker(
  services: Services,
  trx: Trx,
  actionId: string,
  group: readonly Ended[],
): Promise<void> {
  const [first] = group
  const policy = first?.attempt.action.policy.breaker
  if (first === undefined || !policy) return
  const outcomes = group.filter(tellsOfReceiver).map((one) => ({
    hasSucceeded: hasSucceeded(one),
    at: one.result.finishedAt,
  }))
  const hasFailures = outcomes.some((outcome) => !outcome.hasSucceeded)
  const [row] = await run(trx, LOCK_BREAKER, [actionId, hasFailures])
  if (row === undefined) return
  const before = { ...row, state: row.breaker }
  const after = breakerAfter(before, outcomes, policy)
  const written = await run(trx, WRITE_BREAKER, [
    actionId,
    after.state,
    after.failures,
    after.openedAt,
    after.nextProbeAt,
    after.closedAt,
  ])
  if (written.length === 0) return
  const wasClosed = before.state === 'closed'
  if (wasClosed && after.state !== 'closed') {
    const last = group.at(-1) ?? first
    await openIncident(services, trx, { kind: 'breaker.opened', ...occasionOf(last) })
  }
  if (!wasClosed && after.state === 'closed')
    await closeIncidents(services, trx, { kind: 'breaker.opened', subjectIds: [actionId] })
}

/** A 410 and an unsent attempt are no evidence about the receiver's health. */
function tellsOfReceiver({ result }: Ended): boolean {
  return result.sent !== null && result.received?.statusCode !== GONE
}
