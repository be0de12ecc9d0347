import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { operatorProcedure, operatorRouterOf } from '../api/context.ts'
import { validationFailed } from '../api/errors.ts'
import type { Services } from '../api/services.ts'
import { recordChange } from '../audit/index.ts'
import { type PlanKey, planOf } from '../plans/index.ts'
import { insertWorkspace, listWorkspaces } from './queries.ts'
import { PlanKeyInput, Workspace, WorkspaceName } from './schema.ts'

/**
 * Creates a workspace.
 *
 * @throws DomainError `validation_failed` (`duplicate`) when the name is taken
 */
async function createWorkspace(services: Services, input: { name: string; plan: PlanKey }) {
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

export const workspaceOperatorRoutes = operatorRouterOf({
  create: operatorProcedure
    .input(z.object({ name: WorkspaceName, plan: PlanKeyInput.optional() }))
    .output(Workspace)
    .mutation(({ ctx, input: { name, plan = ctx.defaultPlan } }) => createWorkspace(ctx, { name, plan })),
  list: operatorProcedure.output(z.array(Workspace)).query(async ({ ctx }) => {
    const workspaces = await listWorkspaces(ctx.db)
    return workspaces.map((workspace) => ({ ...workspace, plan: planOf(ctx.plans, workspace.plan).key }))
  }),
})
