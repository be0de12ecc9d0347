import { storedCondition } from '../engine/conditions/index.ts'
import type { Db } from '../platform/db/index.ts'
import type { DispatchAction } from './planDispatch.ts'

/**
 * The actions of endpoints, each list in position order: what the capture route keeps in memory. Endpoints
 * without actions have an empty list.
 */
export async function loadDispatchActions(
  db: Db,
  endpointIds: readonly string[],
): Promise<Map<string, DispatchAction[]>> {
  const actions = new Map<string, DispatchAction[]>(endpointIds.map((id) => [id, []]))
  const rows = await db
    .selectFrom('actions')
    .where('endpointId', 'in', endpointIds)
    .orderBy('position')
    .select(['id', 'endpointId', 'name', 'kind', 'isActive', 'suspendedByPlan', 'condition'])
    .execute()
  for (const { endpointId, condition, ...action } of rows)
    actions.get(endpointId)?.push({ ...action, condition: storedCondition(condition) })
  return actions
}
