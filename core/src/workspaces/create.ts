import { randomUUID } from 'node:crypto'
import { validationFailed } from '../api/errors.ts'
import type { Services } from '../api/services.ts'
import { type PlanKey, planOf } from '../plans/index.ts'
import { insertWorkspace } from './queries.ts'

/**
 * Makes a workspace.
 *
 * @throws DomainError `validation_failed` (`duplicate`) when the name is taken
 */
export async function createWorkspace(services: Services, input: { name: string; plan: PlanKey }) {
  const row = { id: randomUUID(), ...input, createdAt: services.clock.now() }
  const made = await services.db.transaction().execute((trx) => insertWorkspace(trx, row))
  if (made === undefined) {
    throw validationFailed([
      { path: ['name'], code: 'duplicate', detail: `There is a workspace named "${input.name}" already.` },
    ])
  }
  return { ...made, plan: planOf(services.plans, made.plan).key }
}
