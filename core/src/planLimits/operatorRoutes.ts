import { z } from 'zod'
import { operatorProcedure, operatorRouterOf } from '../api/context.ts'
import type { Services } from '../api/services.ts'
import { recordChange } from '../audit/index.ts'
import { type PlanKey, planOf } from '../plans/index.ts'
import {
  getWorkspace,
  lockWorkspace,
  PlanKeyInput,
  updatePlan,
  Workspace,
  WorkspaceReference,
} from '../workspaces/index.ts'
import { applyPlanLimits } from './index.ts'

/**
 * Moves a workspace to another plan. Nothing is deleted: objects over the new limits are suspended, and those with room
 * again are resumed.
 *
 * @throws DomainError `not_found`
 */
async function setPlan(services: Services, input: { workspace: string; plan: PlanKey }) {
  const workspace = await getWorkspace(services.db, input.workspace)
  await services.db.transaction().execute(async (trx) => {
    await lockWorkspace(trx, workspace.id)
    await updatePlan(trx, workspace.id, input.plan)
    await applyPlanLimits(services, trx, workspace.id)
    await recordChange(trx, services, {
      action: 'workspaces.setPlan',
      workspaceId: workspace.id,
      subject: { type: 'workspace', id: workspace.id, name: workspace.name },
      before: { plan: workspace.plan },
      after: { plan: input.plan },
    })
  })
  return { ...workspace, plan: planOf(services.plans, input.plan).key }
}

/** Move a workspace to another plan; listed among the procedures of `workspaces`. */
export const planLimitOperatorRoutes = operatorRouterOf({
  setPlan: operatorProcedure
    .input(z.object({ workspace: WorkspaceReference, plan: PlanKeyInput }))
    .output(Workspace)
    .mutation(({ ctx, input }) => setPlan(ctx, input)),
})
