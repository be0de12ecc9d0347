import { z } from 'zod'
import { operatorProcedure, operatorRouterOf } from '../api/operatorProcedure.ts'
import { PlanKeyInput, Workspace, WorkspaceReference } from '../workspaces/index.ts'
import { setPlan } from './setPlan.ts'

/** Move a workspace to another plan; listed among the procedures of `workspaces`. */
export const planLimitOperatorRoutes = operatorRouterOf({
  setPlan: operatorProcedure
    .input(z.object({ workspace: WorkspaceReference, plan: PlanKeyInput }))
    .output(Workspace)
    .mutation(({ ctx, input }) => setPlan(ctx, input)),
})
