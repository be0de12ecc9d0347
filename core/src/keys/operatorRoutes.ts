import { z } from 'zod'
import { operatorProcedure, operatorRouterOf } from '../api/operatorProcedure.ts'
import { EndpointReference, endpointIdOf } from '../endpoints/index.ts'
import { getWorkspace, WorkspaceReference } from '../workspaces/index.ts'
import { createKey } from './create.ts'
import { listKeys } from './queries.ts'
import { keyOfReference, revokeKey } from './revoke.ts'
import { rotateKey } from './rotate.ts'
import { ApiKey, CreatedKey, createInput, KeyReference, rotateMembers } from './schema.ts'

const which = { workspace: WorkspaceReference, key: KeyReference }

/** Create, list, rotate and revoke the API keys of any workspace. */
export const keyOperatorRoutes = operatorRouterOf({
  create: operatorProcedure
    .input(
      createInput
        .omit({ endpointId: true })
        .extend({ workspace: WorkspaceReference, endpoint: EndpointReference.optional() }),
    )
    .output(CreatedKey)
    .mutation(async ({ ctx, input: { endpoint, ...wish } }) => {
      if (endpoint === undefined) return await createKey(ctx, wish)
      const { id: workspaceId } = await getWorkspace(ctx.db, wish.workspace)
      return await createKey(ctx, { ...wish, endpointId: await endpointIdOf(ctx.db, workspaceId, endpoint) })
    }),
  list: operatorProcedure
    .input(z.object({ workspace: WorkspaceReference }))
    .output(z.array(ApiKey))
    .query(async ({ ctx, input }) => listKeys(ctx.db, (await getWorkspace(ctx.db, input.workspace)).id)),
  rotate: operatorProcedure
    .input(z.object({ ...which, ...rotateMembers }))
    .output(CreatedKey)
    .mutation(async ({ ctx, input: { key, ...input } }) => {
      const { id: keyId } = await keyOfReference(ctx, { workspace: input.workspace, key })
      return await rotateKey(ctx, { ...input, keyId })
    }),
  revoke: operatorProcedure
    .input(z.object(which))
    .output(ApiKey)
    .mutation(async ({ ctx, input }) => revokeKey(ctx, await keyOfReference(ctx, input))),
})
