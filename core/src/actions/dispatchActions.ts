import { orderKeyReader, storedPolicy } from '../deliveries/index.ts'
import { storedCondition } from '../engine/conditions/index.ts'
import type { Db } from '../platform/db/index.ts'
import type { LoadedAction } from './planDispatch.ts'

/**
 * Reads the actions of endpoints for the memory of the capture route, each list in position order. Endpoints without
 * actions have an empty list.
 */
export async function loadDispatchActions(
  db: Db,
  endpointIds: readonly string[],
): Promise<Map<string, LoadedAction[]>> {
  const actions = new Map<string, LoadedAction[]>(endpointIds.map((id) => [id, []]))
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
      'url',
      'appendPath',
      'appendQuery',
      'signingSecret',
      'previousSigningSecret',
      'previousSigningSecretUntil',
      'signingScheme',
      'authSettings',
      'authSecrets',
      'tlsCertificates',
      'tlsClientKey',
      'deliveryPolicy',
      'governed',
    ])
    .execute()
  for (const { endpointId, condition, ...action } of rows)
    actions.get(endpointId)?.push({
      ...action,
      condition: storedCondition(condition),
      policy: storedPolicy(action.deliveryPolicy),
      orderKeyOf: orderKeyReader(action.deliveryPolicy),
    })
  return actions
}
