import { randomUUID } from 'node:crypto'
import { requireRoom } from '../api/planGates.ts'
import type { Services } from '../api/services.ts'
import { planOf } from '../plans/index.ts'
import { getWorkspace, lockWorkspace } from '../workspaces/index.ts'
import { newKey } from './key.ts'
import { countActiveKeys, insertKey } from './queries.ts'

/**
 * Makes a key and answers it in full, for the only time: what is stored is its SHA-256.
 *
 * @throws DomainError `not_found`; `limit_reached` at `apiKeysMax`; `feature_not_in_plan` when the plan has no API
 */
export async function createKey(services: Services, input: { workspace: string; name: string }) {
  const workspace = await getWorkspace(services.db, input.workspace)
  const plan = planOf(services.plans, workspace.plan)
  const { key, prefix, sha256 } = newKey()
  const id = randomUUID()
  const createdAt = services.clock.now()
  await services.db.transaction().execute(async (trx) => {
    await lockWorkspace(trx, workspace.id)
    requireRoom(plan, 'apiKeysMax', await countActiveKeys(trx, workspace.id), 'API keys')
    await insertKey(trx, {
      id,
      workspaceId: workspace.id,
      name: input.name,
      prefix,
      sha256,
      createdAt,
    })
  })
  return { id, key, prefix, name: input.name, createdAt }
}
