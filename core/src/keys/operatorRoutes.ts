import { z } from 'zod'
import { operatorProcedure, operatorRouterOf } from '../api/operatorProcedure.ts'
import { getWorkspace, WorkspaceReference } from '../workspaces/index.ts'
import { createKey } from './create.ts'
import { listKeys } from './queries.ts'
import { revokeKey } from './revoke.ts'
import { ApiKey, CreatedKey, KeyName, KeyReference } from './schema.ts'

/** Create, list and revoke the API keys of any workspace. */
export const keyOperatorRoutes = operatorRouterOf({
  create: operatorProcedure
    .input(z.object({ workspace: WorkspaceReference, name: KeyName }))
    .output(CreatedKey)
    .mutation(({ ctx, input }) => createKey(ctx, input)),
  list: operatorProcedure
    .input(z.object({ workspace: WorkspaceReference }))
    .output(z.array(ApiKey))
    .query(async ({ ctx, input }) => listKeys(ctx.db, (await getWorkspace(ctx.db, input.workspace)).id)),
  revoke: operatorProcedure
    .input(z.object({ workspace: WorkspaceReference, key: KeyReference }))
    .output(ApiKey)
    .mutation(({ ctx, input }) => revokeKey(ctx, input)),
})
