import { z } from 'zod'
import { operatorProcedure, operatorRouterOf } from '../api/operatorProcedure.ts'
import { WorkspaceReference } from '../workspaces/index.ts'
import { countPurge, purge } from './purge.ts'

const target = z
  .object({
    workspace: WorkspaceReference,
    endpoint: z.guid().optional(),
    request: z.int().min(1).optional(),
  })
  .refine(({ endpoint, request }) => request === undefined || endpoint !== undefined, {
    path: ['endpoint'],
    message: 'A request is named together with its endpoint.',
    params: { code: 'required' },
  })

/** Count and remove stored requests for good: of a workspace, of an endpoint, or one alone. */
export const retentionOperatorRoutes = operatorRouterOf({
  /** How many requests `purge` would remove; changes nothing. */
  countPurge: operatorProcedure
    .input(target)
    .output(z.object({ requestCount: z.int() }))
    .query(async ({ ctx, input }) => ({ requestCount: await countPurge(ctx, input) })),
  purge: operatorProcedure
    .input(target)
    .output(z.object({ purgedCount: z.int() }))
    .mutation(async ({ ctx, input }) => ({ purgedCount: await purge(ctx, input) })),
})
