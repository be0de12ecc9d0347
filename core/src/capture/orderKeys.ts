import type { LoadedAction } from '../actions/index.ts'
import { ORDER_BY_ENDPOINT } from '../deliveries/index.ts'
import { hashWith, type Storing, takesOutText } from '../engine/storing/index.ts'

/** Settings that decide whether order keys are stored as they are. */
export interface KeyHiding {
  /** The data key of the endpoint, also of one that encrypts no more: keys would change in the middle of an order. */
  readonly dataKey: Buffer | null
  readonly storing: Storing | null
}

/** The digest that is stored instead of each order key of an action; null if its keys are stored as they are. */
export function orderDigest(
  { dataKey, storing }: KeyHiding,
  by: string | undefined,
): ((key: string) => string) | null {
  if (by === undefined || by === ORDER_BY_ENDPOINT) return null
  if (dataKey !== null) return hashWith(dataKey)
  return storing !== null && takesOutText(storing, by) ? storing.hash : null
}

/** The actions of an endpoint, with order keys as they are stored. */
export function withStoredKeys(actions: readonly LoadedAction[], hiding: KeyHiding): readonly LoadedAction[] {
  return actions.map((action) => {
    const { orderKeyOf, policy } = action
    const digest = orderDigest(hiding, policy.order?.by)
    if (orderKeyOf === null || digest === null) return action
    return {
      ...action,
      orderKeyOf: (root) => {
        const key = orderKeyOf(root)
        return key === null ? null : digest(key)
      },
    }
  })
}
