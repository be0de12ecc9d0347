import { ORDER_BY_ENDPOINT, storedPolicy } from '../deliveries/index.ts'
import { conditionWarnings, type EndpointRow, type TakenOut, takenOutOf } from '../endpoints/index.ts'
import { storedCondition } from '../engine/conditions/index.ts'
import { takesOutText } from '../engine/storing/index.ts'
import type { ActionRow } from './queries.ts'

type Reader = Pick<ActionRow, 'name' | 'condition' | 'deliveryPolicy'>

/** Names what an action reads that rules for storing take out of captures. */
export function actionWarnings(taken: TakenOut, { name, condition, deliveryPolicy }: Reader): string[] {
  const by = storedPolicy(deliveryPolicy).order?.by
  const isHidden =
    by !== undefined && by !== ORDER_BY_ENDPOINT && takesOutText(taken.storing, by, taken.provider)
  return [
    ...conditionWarnings(taken, `action '${name}'`, storedCondition(condition)),
    ...(isHidden
      ? [
          `The action '${name}' orders by ${by}, which is not stored as it came: its keys are shown as digests.`,
        ]
      : []),
  ]
}

/** The member `warnings` of the answer to a change of an action; absent without any. */
export function warningsMember(
  { provider, storeRules, dropHeaders }: Pick<EndpointRow, 'provider' | 'storeRules' | 'dropHeaders'>,
  action: Reader,
): { warnings?: string[] } {
  const input = { storeRules: JSON.parse(storeRules), dropHeaders: JSON.parse(dropHeaders) }
  const taken = takenOutOf({ provider }, input)
  const warnings = taken === null ? [] : actionWarnings(taken, action)
  return warnings.length === 0 ? {} : { warnings }
}
