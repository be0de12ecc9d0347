import { z } from 'zod'
import { operatorProcedure, operatorRouterOf } from '../api/operatorProcedure.ts'
import { planOf } from '../plans/index.ts'
import { createWorkspace } from './create.ts'
import { listWorkspaces } from './queries.ts'
import { PlanKeyInput, Workspace, WorkspaceName } from './schema.ts'

/** Create and list workspaces. */
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
