import { z } from 'zod'
import { operatorProcedure, operatorRouterOf } from '../api/operatorProcedure.ts'
import { getWorkspace, WorkspaceReference } from '../workspaces/index.ts'
import { SignInLinkView } from './schema.ts'
import { makeSignInLink } from './start.ts'

export const sessionOperatorRoutes = operatorRouterOf({
  link: operatorProcedure
    .input(z.object({ workspace: WorkspaceReference }))
    .output(SignInLinkView)
    .mutation(async ({ ctx, input }) =>
      makeSignInLink(ctx, {
        workspaceId: (await getWorkspace(ctx.db, input.workspace)).id,
        apiKeyId: null,
      }),
    ),
})
