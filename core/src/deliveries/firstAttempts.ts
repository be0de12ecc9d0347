import type { Services } from '../api/services.ts'
import type { RunningLanes, SendSlot } from '../dispatch/index.ts'
import type { EvaluatedRequest } from '../engine/message/index.ts'
import type { DataKeyRef } from '../platform/secrets/index.ts'
import { loadRuleSets, NO_RULE_SET } from '../transformations/index.ts'
import type { Attempt } from './attempt.ts'
import { attemptOf, forwardActions } from './attemptOf.ts'
import type { ForwardSettings } from './dueAttempts.ts'
import type { FlowSend } from './flow/pick.ts'

/**
 * Holds slots for first attempts in the process that captured their requests, if that process also runs jobs. Without
 * one the delivery waits in its lane.
 */
export type FirstAttempts = Pick<RunningLanes<FlowSend>, 'hold'>

/** Never has a slot: for a process that runs no jobs. */
export const NO_FIRST_ATTEMPTS: FirstAttempts = { hold: () => undefined }

/** A first attempt that the transaction of its capture has claimed and committed. */
export interface ClaimedFirst {
  readonly slot: SendSlot<FlowSend>
  /** Bytes for which the slot is held. */
  readonly bytes: number
  readonly attemptId: number
  readonly deliveryId: number
  readonly requestId: number
  readonly hasRules: boolean
  /** As stored. */
  readonly request: EvaluatedRequest
  readonly workspaceId: string
  readonly endpointName: string
  /** The endpoint's id in its capture URL. */
  readonly captureId: string
  readonly plan: string
  /** The key that seals the request; null without. */
  readonly sealing: DataKeyRef | null
  readonly action: ForwardSettings & { readonly id: string; readonly name: string }
  /** When it was claimed. */
  readonly now: Date
}

/**
 * Hands attempts over to the slots that were held for them. An attempt that fails here is recovered as Interrupted when
 * its lease ends.
 */
export async function beginFirstAttempts(
  services: Pick<Services, 'db' | 'secrets' | 'plans' | 'log'>,
  claimed: readonly ClaimedFirst[],
): Promise<void> {
  const [first] = claimed
  if (first === undefined) return
  // All attempts of one transaction were claimed at the same time.
  const actionOf = forwardActions(services.secrets, first.now)
  const [plain, withRules] = [claimed.filter((one) => !one.hasRules), claimed.filter((one) => one.hasRules)]
  for (const one of plain) begin(services, actionOf, one, NO_RULE_SET)
  if (withRules.length === 0) return
  try {
    const ruleSets = await loadRuleSets(
      services.db,
      withRules.map(({ action }) => action.id),
    )
    for (const one of withRules) begin(services, actionOf, one, ruleSets.get(one.action.id) ?? NO_RULE_SET)
  } catch (err) {
    services.log.error({ err, attempts: withRules.length }, 'could not read the rules of first attempts')
    for (const { slot } of withRules) slot.release()
  }
}

function begin(
  services: Pick<Services, 'secrets' | 'plans' | 'log'>,
  actionOf: ReturnType<typeof forwardActions>,
  one: ClaimedFirst,
  rules: Attempt['rules'],
): void {
  const { slot, bytes, request, action, now, sealing, ...claimed } = one
  let attempt: Attempt
  try {
    const row = {
      ...claimed,
      ...action,
      attempt: 1,
      trigger: 'capture',
      sealedWith: sealing?.id ?? null,
      sealedKey: sealing?.sealedKey ?? null,
      endpointId: request.endpointId,
      actionId: action.id,
      actionName: action.name,
      isActive: true,
      suspendedByPlan: false,
    }
    const claim = { id: one.attemptId, startedAt: now, action: actionOf(row), rules }
    attempt = attemptOf(services, row, request, claim)
  } catch (err) {
    // A secret that cannot be opened fails this delivery only.
    services.log.error({ err, deliveryId: one.deliveryId }, 'could not start a delivery')
    slot.release()
    return
  }
  slot.begin({ attempt, isBound: false, bytes, leaseUntil: attempt.leaseUntil })
}
