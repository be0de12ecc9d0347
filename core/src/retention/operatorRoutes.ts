import { z } from 'zod'
import { operatorProcedure, operatorRouterOf } from '../api/context.ts'
import { EndpointReference, endpointIdOf } from '../endpoints/index.ts'
import type { Db } from '../platform/db/index.ts'
import { getWorkspace, WorkspaceReference } from '../workspaces/index.ts'
import { countPurge, type PurgeTarget, purge } from './purge.ts'

const target = z
  .object({
    workspace: WorkspaceReference,
    endpoint: EndpointReference.optional(),
    request: z.int().min(1).optional(),
  })
  .refine(({ endpoint, request }) => request === undefined || endpoint !== undefined, {
    path: ['endpoint'],
    message: 'A request is named together with its endpoint.',
    params: { code: 'required' },
  })

/** Count and permanently delete stored requests: of a workspace, of an endpoint, or a single one. */
export const retentionOperatorRoutes = operatorRouterOf({
  /** The number of requests that `purge` would delete; changes nothing. */
  countPurge: operatorProcedure
    .input(target)
    .output(z.object({ requestCount: z.int() }))
    .query(async ({ ctx, input }) => ({ requestCount: await countPurge(ctx, await targetOf(ctx, input)) })),
  purge: operatorProcedure
    .input(target)
    .output(z.object({ purgedCount: z.int() }))
    .mutation(async ({ ctx, input }) => ({ purgedCount: await purge(ctx, await targetOf(ctx, input)) })),
})

/** The target with the endpoint's reference resolved to its id. */
async function targetOf({ db }: { readonly db: Db }, named: PurgeTarget): Promise<PurgeTarget> {
  if (named.endpoint === undefined) return named
  const { id: workspaceId } = await getWorkspace(db, named.workspace)
  return { ...named, endpoint: await endpointIdOf(db, workspaceId, named.endpoint) }
}
