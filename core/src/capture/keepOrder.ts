import { listActions, updateAction } from '../actions/index.ts'
import type { Context } from '../api/context.ts'
import { rekeyDeliveries, storedPolicy } from '../deliveries/index.ts'
import { type EndpointRow, findDataKey, storingOf } from '../endpoints/index.ts'
import { findProvider } from '../engine/providers/index.ts'
import { hashWith } from '../engine/storing/index.ts'
import type { Trx } from '../platform/db/index.ts'
import { openDataKey } from '../platform/secrets/index.ts'
import { ensureHashKey } from '../workspaces/index.ts'
import { chained, orderDigests } from './orderKeys.ts'

/**
 * Keeps the order of deliveries that wait while settings change what order keys are stored as. If the change hides keys,
 * theirs become the digests that later captures will have: a held key would no longer hold, and dead letters would keep a
 * value. If it shows keys again, later captures have digests as long as deliveries with digests are there.
 */
export async function keepOrder(
  { clock, secrets, workspace }: Pick<Context, 'clock' | 'secrets' | 'workspace'>,
  trx: Trx,
  {
    before,
    endpoint,
    hadDataKey,
  }: { readonly before: EndpointRow; readonly endpoint: EndpointRow; readonly hadDataKey: boolean },
): Promise<void> {
  const actions = (await listActions(trx, endpoint.id)).flatMap(({ id, deliveryPolicy, keepsKeyDigests }) => {
    const by = storedPolicy(deliveryPolicy).order?.by
    return by === undefined ? [] : [{ id, by, keepsKeyDigests }]
  })
  if (actions.length === 0) return
  const workspaceId = workspace.id
  const hash = hashWith(await ensureHashKey(trx, { workspaceId, secrets, now: clock.now() }))
  const ref = await findDataKey(trx, { workspaceId, endpointId: endpoint.id })
  const dataKey = ref === undefined ? null : openDataKey(secrets, ref.sealedKey)
  const earlier = { ...hidingOf(before, hash), dataKey: hadDataKey ? dataKey : null }
  const later = { ...hidingOf(endpoint, hash), dataKey }
  for (const { id, ...action } of actions) {
    const had = orderDigests(earlier, action)
    const demanded = orderDigests(later, { ...action, keepsKeyDigests: false })
    const isPlain = had.ofWorkspace === null && had.ofDataKey === null
    const added = chained([
      isPlain ? demanded.ofWorkspace : null,
      had.ofDataKey === null ? demanded.ofDataKey : null,
    ])
    const areThere = await rekeyDeliveries(trx, { endpointId: endpoint.id, actionId: id }, added)
    const keepsKeyDigests = areThere && had.ofWorkspace !== null && demanded.ofWorkspace === null
    if (keepsKeyDigests !== action.keepsKeyDigests) await updateAction(trx, id, { keepsKeyDigests })
  }
}

function hidingOf(endpoint: EndpointRow, hash: (text: string) => string) {
  const provider = endpoint.provider === null ? undefined : findProvider(endpoint.provider)
  return { storing: storingOf(endpoint, hash), hash, provider }
}
