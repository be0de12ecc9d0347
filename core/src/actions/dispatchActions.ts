import {
  type DeliveryPolicy,
  FORWARD_COLUMNS,
  type ForwardSettings,
  type OrderKeyOf,
  orderKeyReader,
  storedPolicy,
} from '../deliveries/index.ts'
import {
  type Condition,
  holds,
  holdsInSteps,
  type ReadRoot,
  storedCondition,
} from '../engine/conditions/index.ts'
import type { Db } from '../platform/db/index.ts'

/** Facts of an action that dispatching needs. */
export interface DispatchAction {
  readonly id: string
  readonly name: string
  readonly kind: string
  readonly isActive: boolean
  readonly suspendedByPlan: boolean
  readonly condition: Condition
}

/** An action in the memory of the capture path, with the settings of its forwards. The secrets are sealed. */
export type LoadedAction = DispatchAction &
  ForwardSettings & {
    readonly policy: DeliveryPolicy
    /** Null if its deliveries have no order. */
    readonly orderKeyOf: OrderKeyOf | null
    /** Whether keys stay digests because deliveries wait under digests that a rule for storing has demanded. */
    readonly keepsKeyDigests: boolean
  }

/** Actions that a request is dispatched to. `state` is the state of the request until it has an attempt. */
export type DispatchPlan<Action = DispatchAction> =
  | { readonly state: 'NotAttempted' | 'Skipped'; readonly actions: readonly [] }
  | { readonly state: 'Pending'; readonly actions: readonly Action[] }

/**
 * Decides which actions get a delivery of a captured request, or why none does.
 *
 * Actions do not chain: each condition sees the request exactly as it arrived. `{}` always matches; an action
 * suspended by plan counts as switched off.
 *
 * @param actions every action of the endpoint, in `position` order, which the plan keeps
 * @param root the request as captured
 * @returns `NotAttempted` when none is switched on; `Skipped` when each switched-on one has a condition and
 *   none matched; otherwise the actions to dispatch, never an empty list
 */
export function planDispatch<Action extends DispatchAction>(
  actions: readonly Action[],
  root: ReadRoot,
): DispatchPlan<Action> {
  const on = actions.filter(isOn)
  return planOf(
    on,
    on.filter((action) => holds(action.condition, root)),
  )
}

/** {@link planDispatch} in pieces of a few milliseconds, like {@link holdsInSteps}. */
export function* planDispatchInSteps<Action extends DispatchAction>(
  actions: readonly Action[],
  root: ReadRoot,
): Generator<void, DispatchPlan<Action>> {
  const on = actions.filter(isOn)
  const matching: Action[] = []
  for (const action of on) if (yield* holdsInSteps(action.condition, root)) matching.push(action)
  return planOf(on, matching)
}

function planOf<Action>(on: readonly Action[], matching: readonly Action[]): DispatchPlan<Action> {
  if (on.length === 0) return { state: 'NotAttempted', actions: [] }
  return matching.length === 0 ? { state: 'Skipped', actions: [] } : { state: 'Pending', actions: matching }
}

/** Whether an action is switched on and not suspended by the plan. */
export function isOn(action: { readonly isActive: boolean; readonly suspendedByPlan: boolean }): boolean {
  return action.isActive && !action.suspendedByPlan
}

/**
 * Reads the rows of the actions of endpoints for the memory of the capture route, each list in position order. An
 * endpoint without actions has no list.
 */
export async function findDispatchActions(db: Db, endpointIds: readonly string[]) {
  const rows = await db
    .selectFrom('actions')
    .where('endpointId', 'in', endpointIds)
    .orderBy('position')
    .select([
      'id',
      'endpointId',
      'name',
      'kind',
      'isActive',
      'suspendedByPlan',
      'condition',
      ...FORWARD_COLUMNS,
      'keepsKeyDigests',
    ])
    .execute()
  return Map.groupBy(rows, ({ endpointId }) => endpointId)
}

type ActionRows =
  Awaited<ReturnType<typeof findDispatchActions>> extends Map<string, infer Rows> ? Rows : never

/**
 * Prepares the actions of an endpoint.
 *
 * @throws Error when a row is not valid; every saved one is
 */
export function loadedActions(rows: ActionRows): LoadedAction[] {
  return rows.map(({ endpointId: _, condition, ...action }) => ({
    ...action,
    condition: storedCondition(condition),
    policy: storedPolicy(action.deliveryPolicy),
    orderKeyOf: orderKeyReader(action.deliveryPolicy),
  }))
}
