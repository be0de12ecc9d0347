import { randomUUID } from 'node:crypto'
import { validationFailed } from '../api/errors.ts'
import type { Services } from '../api/services.ts'
import { recordChange } from '../audit/index.ts'
import { type PlanKey, planOf } from '../plans/index.ts'
import { insertWorkspace } from './queries.ts'

/**
 * Creates a workspace.
 *
 * @throws DomainError `validation_failed` (`duplicate`) when the name is taken
 */
export async function createWorkspace(services: Services, input: { name: string; plan: PlanKey }) {
  const row = { id: randomUUID(), ...input, createdAt: services.clock.now() }
  const made = await services.db.transaction().execute(async (trx) => {
    const inserted = await insertWorkspace(trx, row)
    if (inserted !== undefined) {
      await recordChange(trx, services, {
        action: 'workspaces.create',
        workspaceId: inserted.id,
        subject: { type: 'workspace', id: inserted.id, name: inserted.name },
        before: null,
        after: inserted,
      })
    }
    return inserted
  })
  if (made === undefined) {
    throw validationFailed([
      { path: ['name'], code: 'duplicate', detail: `There is a workspace named "${input.name}" already.` },
    ])
  }
  return { ...made, plan: planOf(services.plans, made.plan).key }
}
