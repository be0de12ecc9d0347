import type { ForwardSettings } from '../deliveries/index.ts'
import { type Condition, matches } from '../engine/conditions/index.ts'
import type { EvaluatedRequest } from '../engine/message/index.ts'

/** What dispatching needs to know of an action. */
export interface DispatchAction {
  readonly id: string
  readonly name: string
  readonly kind: string
  readonly isActive: boolean
  readonly suspendedByPlan: boolean
  readonly condition: Condition
}

/** An action as the capture path keeps it: besides, what its forwards need. Its secrets are sealed. */
export type LoadedAction = DispatchAction & ForwardSettings

/** What a request sets in motion: `state` is the request's until an attempt has a row. */
export type DispatchPlan<Action = DispatchAction> =
  | { readonly state: 'NotAttempted' | 'Skipped'; readonly actions: readonly [] }
  | { readonly state: 'Pending'; readonly actions: readonly Action[] }

/**
 * Decides what a captured request sets in motion: which actions get a delivery, or why none does.
 *
 * Actions do not chain: each condition sees the request exactly as it arrived. `{}` always matches; an action
 * suspended by plan counts as switched off.
 *
 * @param actions every action of the endpoint, in `position` order, which the plan keeps
 * @returns `NotAttempted` when none is switched on; `Skipped` when each switched-on one has a condition and
 *   none matched; otherwise the actions to dispatch, never an empty list
 */
export function planDispatch<Action extends DispatchAction>(
  actions: readonly Action[],
  request: EvaluatedRequest,
): DispatchPlan<Action> {
  const on = actions.filter(isOn)
  if (on.length === 0) return { state: 'NotAttempted', actions: [] }
  const matching = on.filter((action) => matches(action.condition, request))
  return matching.length === 0 ? { state: 'Skipped', actions: [] } : { state: 'Pending', actions: matching }
}

/** Whether an action takes part at all. */
export function isOn(action: { readonly isActive: boolean; readonly suspendedByPlan: boolean }): boolean {
  return action.isActive && !action.suspendedByPlan
}
