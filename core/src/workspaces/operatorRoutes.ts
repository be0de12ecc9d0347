import { z } from 'zod'
import { operatorProcedure, operatorRouterOf } from '../api/operatorProcedure.ts'
import { planOf } from '../plans/index.ts'
import { createWorkspace } from './create.ts'
import { listWorkspaces } from './queries.ts'
import { PlanKeyInput, Workspace, WorkspaceName } from './schema.ts'

/** Create and list workspaces. */
export const workspaceOperatorRoutes = operatorRouterOf({
  create: operatorProcedure
    // Self-hosted workspaces are on Team unless said otherwise.
    .input(z.object({ name: WorkspaceName, plan: PlanKeyInput.default('team') }))
    .output(Workspace)
    .mutation(({ ctx, input }) => createWorkspace(ctx, input)),
  list: operatorProcedure.output(z.array(Workspace)).query(async ({ ctx }) => {
    const workspaces = await listWorkspaces(ctx.db)
    return workspaces.map((workspace) => ({ ...workspace, plan: planOf(ctx.plans, workspace.plan).key }))
  }),
})
