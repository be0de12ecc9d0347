import { z } from 'zod'
import { createdCursor, timeCursorInput } from '../api/cursors.ts'
import { envelope, paged, pageInput } from '../api/pagination.ts'
import { get, router } from '../api/route.ts'
import { endpointId } from '../api/values.ts'
import { findsEndpoint } from './find.ts'
import { listEndpoints } from './queries.ts'
import { Endpoint } from './schema.ts'
import { endpointView } from './view.ts'

export const endpointRoutes = router({
  list: get('/api/v1/endpoints', {
    summary: 'List endpoints, newest first',
    tool: {
      name: 'list_endpoints',
      title: 'List capture endpoints',
      description: 'The capture endpoints of the workspace, newest first, with their capture URLs.',
      effect: 'reads',
      members: ['page'],
    },
    input: z.object({ ...pageInput, ...timeCursorInput('endpoints') }),
    output: envelope(Endpoint),
    narrows: true,
  }).query(async ({ ctx, input }) => {
    const found = await ctx.reads.run(({ db }) =>
      listEndpoints(db, ctx.workspace.id, input, ctx.onlyEndpointId),
    )
    return paged(found, input, {
      view: (row) => endpointView(row, ctx),
      cursorOf: createdCursor('endpoints'),
    })
  }),

  get: get('/api/v1/endpoints/{endpointId}', {
    summary: 'Read an endpoint',
    input: z.object({ endpointId }),
    output: Endpoint,
    finds: findsEndpoint,
  }).query(({ ctx }) => endpointView(ctx.endpoint, ctx)),
})
