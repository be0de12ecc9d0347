import type { LoadedAction } from '../actions/index.ts'
import { ORDER_BY_ENDPOINT } from '../deliveries/index.ts'
import type { ProviderRow } from '../engine/providers/index.ts'
import { hashWith, type Storing, takesOutText } from '../engine/storing/index.ts'

/** Settings that decide whether order keys are stored as they are. */
export interface KeyHiding {
  /** The data key of the endpoint, also of one that encrypts no more: keys would change in the middle of an order. */
  readonly dataKey: Buffer | null
  readonly storing: Storing | null
  /** Keyed digest of the workspace; null if it has no key. */
  readonly hash: Storing['hash']
  readonly provider: ProviderRow | undefined
}

interface OrderedAction {
  /** Path of the keys; undefined without an order. */
  readonly by: string | undefined
  readonly keepsKeyDigests: boolean
}

/**
 * The digests that are stored instead of the order keys of an action, as parts: the workspace's, for keys that rules take
 * out, and the data key's, of that digest or of the key itself. Null: that part does not apply.
 */
export function orderDigests(
  { dataKey, storing, hash, provider }: KeyHiding,
  { by, keepsKeyDigests }: OrderedAction,
): { readonly ofWorkspace: Storing['hash']; readonly ofDataKey: Storing['hash'] } {
  if (by === undefined || by === ORDER_BY_ENDPOINT) return { ofWorkspace: null, ofDataKey: null }
  // A data key hides them, too.
  const isTakenOut = dataKey === null && storing !== null && takesOutText(storing, by, provider)
  return {
    ofWorkspace: keepsKeyDigests || isTakenOut ? hash : null,
    ofDataKey: dataKey === null ? null : hashWith(dataKey),
  }
}

/** The actions of an endpoint, with order keys as they are stored. */
export function withStoredKeys(actions: readonly LoadedAction[], hiding: KeyHiding): readonly LoadedAction[] {
  return actions.map((action) => {
    const { keepsKeyDigests, orderKeyOf, policy } = action
    const digest = chained(Object.values(orderDigests(hiding, { by: policy.order?.by, keepsKeyDigests })))
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

/** Digests that are taken one after the other, as one; null without any. */
export function chained(digests: readonly Storing['hash'][]): Storing['hash'] {
  const parts = digests.filter((digest) => digest !== null)
  return parts.length === 0 ? null : (key) => parts.reduce((text, digest) => digest(text), key)
}
