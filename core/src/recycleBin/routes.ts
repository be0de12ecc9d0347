import { z } from 'zod'
import type { Context } from '../api/context.ts'
import { timeAndIdCursorInput, timeCursor } from '../api/cursors.ts'
import { withExample } from '../api/examples.ts'
import { envelope, paged, pageInput } from '../api/pagination.ts'
import { get, post, router } from '../api/route.ts'
import { Int64, optional, Timestamp } from '../api/values.ts'
import { recordChange } from '../audit/index.ts'
import { findsNamedEndpoint } from '../endpoints/index.ts'
import { retentionMs } from '../plans/index.ts'
import { issuesOfRequestIds, requestIdsInput, requestIdsOf } from '../requests/index.ts'
import {
  type BinScope,
  findBinned,
  listBin,
  lockStoredCounts,
  readBinEvictions,
  takeFromBin,
} from './queries.ts'
import { planRestore, purgesAt } from './rules.ts'

/** Common filters of the bin's routes. */
const binFilters = {
  endpointId: optional(z.guid()).describe('Only requests of this endpoint'),
}

/** A deleted request that can still be restored. */
const BinnedRequest = withExample(
  'BinnedRequest',
  z.object({
    id: Int64,
    endpointId: z.uuid(),
    endpointName: z.string(),
    method: z.string(),
    path: z.string(),
    label: z.string().nullable(),
    contentType: z.string().nullable(),
    sizeBytes: z.int(),
    receivedAt: Timestamp,
    deletedAt: Timestamp,
    purgesAt: Timestamp.describe(
      'Time of permanent deletion; earlier if the storage limit is reached, see `evicted`',
    ),
  }),
)

/** Requests that left the bin early, in each page of the bin. */
const binEvictions = {
  evicted: z
    .object({
      count: z.int(),
      lastAt: Timestamp.nullable().describe('Time of the latest eviction; null: none'),
    })
    .describe(
      'Requests deleted permanently before their `purgesAt`: at `CREEL_STORAGE_MAX` the bin is emptied first',
    ),
}

const Restored = z
  .object({
    restoredCount: z.int(),
    skippedAtCap: z.int().describe('Left in the bin because their endpoint is at its stored-request limit'),
  })
  .meta({ id: 'Restored' })

export const recycleBinRoutes = router({
  list: get('/api/v1/recycle-bin', {
    summary: 'List deleted requests that can be restored, latest deletion first',
    input: z.object({ ...binFilters, ...pageInput, ...timeAndIdCursorInput('recycleBin') }),
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
      cursorOf: ({ deletedAt, id }) => timeCursor('recycleBin', { at: deletedAt, id: String(id) }),
    })
    return { ...page, evicted }
  }),

  restore: post('/api/v1/recycle-bin/restore', {
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

/** Ids in an entry of the audit log; the rest are only counted. */
const IDS_TOLD = 100

/** The part of the bin that the caller can still restore. */
function binScope(ctx: Context): BinScope {
  return {
    workspaceId: ctx.workspace.id,
    onlyEndpointId: ctx.onlyEndpointId,
    retentionMs: retentionMs(ctx.plan.limits),
    now: ctx.clock.now(),
  }
}

/**
 * Restores deleted requests, the newest first, for each endpoint up to its stored-request limit. They keep their id and
 * attempts, and no action runs. Ids that are not in this workspace's bin are skipped.
 */
async function restoreRequests(
  ctx: Context,
  requestIds: readonly number[],
): Promise<{ restoredCount: number; skippedAtCap: number }> {
  const scope = binScope(ctx)
  return await ctx.db.transaction().execute(async (trx) => {
    const endpointIds = new Set((await findBinned(trx, scope, requestIds)).map((row) => row.endpointId))
    if (endpointIds.size === 0) return { restoredCount: 0, skippedAtCap: 0 }
    const counts = await lockStoredCounts(trx, [...endpointIds])
    const room = new Map(
      counts.map((row) => [row.endpointId, ctx.plan.limits.storedRequestsMax - row.storedRequestCount]),
    )
    // Read again under the locks, because another call may have restored some meanwhile.
    const { restored, skippedAtCap } = planRestore(await findBinned(trx, scope, requestIds), room)
    for (const [endpointId, requests] of Map.groupBy(restored, (request) => request.endpointId)) {
      const ids = requests.map(({ id }) => id)
      await takeFromBin(trx, endpointId, ids)
      await recordChange(trx, ctx, {
        action: 'recycleBin.restore',
        workspaceId: ctx.workspace.id,
        subject: { type: 'endpoint', id: endpointId },
        endpointId,
        before: {},
        after: { restoredCount: ids.length, requestIds: ids.slice(0, IDS_TOLD) },
      })
    }
    return { restoredCount: restored.length, skippedAtCap }
  })
}
