import { z } from 'zod'
import { envelope, paged, pageInput } from '../api/pagination.ts'
import { route, router } from '../api/route.ts'
import { checkNewEndpoint, createEndpoint } from './create.ts'
import { findsEndpoint } from './find.ts'
import { listEndpoints } from './queries.ts'
import { removeEndpoint } from './remove.ts'
import { createInput, Endpoint, updateInput } from './schema.ts'
import { EndpointStats, endpointStats } from './stats.ts'
import { changeEndpoint, checkEndpointChange } from './update.ts'
import { endpointView } from './view.ts'

const endpointId = z.string().meta({ format: 'uuid', description: 'Id of the endpoint' })

export const endpointRoutes = router({
  list: route({
    method: 'GET',
    path: '/api/v1/endpoints',
    summary: 'List endpoints, newest first',
    input: z.object(pageInput),
    output: envelope(Endpoint),
  }).query(async ({ ctx, input }) => {
    const { rows, totalCount } = await listEndpoints(ctx.db, ctx.workspace.id, input)
    return paged(
      rows.map((row) => endpointView(row, ctx)),
      totalCount,
      input,
    )
  }),

  create: route({
    method: 'POST',
    path: '/api/v1/endpoints',
    summary: 'Create an endpoint; with `ttlSeconds` an ephemeral one',
    input: createInput,
    output: Endpoint,
    status: 201,
    errors: ['limit_reached', 'feature_not_in_plan'],
    check: checkNewEndpoint,
  }).mutation(({ ctx, input }) => createEndpoint(ctx, input)),

  get: route({
    method: 'GET',
    path: '/api/v1/endpoints/{endpointId}',
    summary: 'Read an endpoint',
    input: z.object({ endpointId }),
    output: Endpoint,
    finds: findsEndpoint,
  }).query(({ ctx }) => endpointView(ctx.endpoint, ctx)),

  update: route({
    method: 'PATCH',
    path: '/api/v1/endpoints/{endpointId}',
    summary: 'Change the named members of an endpoint',
    input: updateInput,
    output: Endpoint,
    errors: ['concurrent_change', 'limit_reached', 'feature_not_in_plan'],
    finds: findsEndpoint,
    check: (ctx, input) => checkEndpointChange(ctx, ctx.endpoint, input),
  }).mutation(({ ctx, input }) => changeEndpoint(ctx, ctx.endpoint, input)),

  stats: route({
    method: 'GET',
    path: '/api/v1/endpoints/{endpointId}/stats',
    summary: 'Storage, traffic, retention and delivery backlog of an endpoint',
    input: z.object({ endpointId }),
    output: EndpointStats,
    finds: findsEndpoint,
  }).query(({ ctx }) => endpointStats(ctx, ctx.endpoint)),

  remove: route({
    method: 'DELETE',
    path: '/api/v1/endpoints/{endpointId}',
    summary: 'Delete an endpoint with all its stored requests; irreversible',
    input: z.object({ endpointId }),
    output: z.null(),
    finds: findsEndpoint,
  }).mutation(async ({ ctx }) => {
    await removeEndpoint(ctx, ctx.endpoint.id)
    return null
  }),
})
