import { z } from 'zod'
import { timeAndIdCursorInput, timeCursor } from '../api/cursors.ts'
import { envelope, paged, pageInput } from '../api/pagination.ts'
import { route, router } from '../api/route.ts'
import { findsNamedEndpoint } from '../endpoints/index.ts'
import { issuesOfRequestIds, requestIdsInput, requestIdsOf } from '../requests/index.ts'
import { listBin, readBinEvictions } from './queries.ts'
import { binScope, restoreRequests } from './restore.ts'
import { purgesAt } from './rules.ts'
import { BinnedRequest, binEvictions, binFilters, Restored } from './schema.ts'

export const recycleBinRoutes = router({
  list: route({
    method: 'GET',
    path: '/api/v1/recycle-bin',
    summary: 'List deleted requests that can be restored, latest deletion first',
    input: z.object({ ...binFilters, ...pageInput, ...timeAndIdCursorInput }),
    output: envelope(BinnedRequest, binEvictions),
    errors: ['not_found'],
    finds: findsNamedEndpoint,
  }).query(async ({ ctx, input }) => {
    const scope = binScope(ctx)
    const endpointId = ctx.namedEndpoint?.id
    const [found, evicted] = await ctx.reads.run(({ db }) =>
      Promise.all([listBin(db, scope, endpointId, input), readBinEvictions(db, scope, endpointId)]),
    )
    const page = paged(found, input, {
      view: (row) => ({ ...row, purgesAt: purgesAt(row, scope.retentionMs) }),
      cursorOf: ({ deletedAt, id }) => timeCursor({ at: deletedAt, id: String(id) }),
    })
    return { ...page, evicted }
  }),

  restore: route({
    method: 'POST',
    path: '/api/v1/recycle-bin/restore',
    summary: 'Restore deleted requests, newest first',
    description:
      'Restored requests keep their id and their attempts; they run no actions and wake no awaits. Ids that are not in the bin of this workspace are ignored.',
    input: z.object(requestIdsInput),
    example: { requestIds: [90117, 90118] },
    output: Restored,
    narrows: true,
    check: (_ctx, input) => issuesOfRequestIds(input),
  }).mutation(({ ctx, input }) => restoreRequests(ctx, requestIdsOf(input))),
})
