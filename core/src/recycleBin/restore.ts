import type { Context } from '../api/context.ts'
import { recordChange } from '../audit/index.ts'
import { retentionMs } from '../plans/index.ts'
import { type BinScope, findBinned, lockStoredCounts, takeFromBin } from './queries.ts'
import { planRestore } from './rules.ts'

/** Ids in an entry of the audit log; the rest are only counted. */
const IDS_TOLD = 100

/** The part of the bin that the caller can still restore. */
export function binScope(ctx: Context): BinScope {
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
export async function restoreRequests(
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
