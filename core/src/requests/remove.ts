import type { Context } from '../api/context.ts'
import { recordChange } from '../audit/index.ts'
import { lockCounters, moveToBin } from './queries.ts'

/** So many ids stand in the audit log; the rest are counted. */
const IDS_TOLD = 100

/**
 * Moves requests to the recycle bin. Deliveries that are already queued go on.
 *
 * @param ids which, or null for every one that is stored when the call begins
 * @param action what the audit log calls it
 * @returns how many moved
 */
export async function binRequests(
  ctx: Context,
  endpointId: string,
  ids: readonly number[] | null,
  action: 'requests.remove' | 'requests.clear' | 'requests.bulkDelete',
): Promise<number> {
  return await ctx.db.transaction().execute(async (trx) => {
    await lockCounters(trx, endpointId)
    const deletedCount = await moveToBin(trx, endpointId, ids, ctx.clock.now())
    if (deletedCount > 0) {
      await recordChange(trx, ctx, {
        action,
        workspaceId: ctx.workspace.id,
        subject: { type: 'endpoint', id: endpointId },
        endpointId,
        before: {},
        after: { deletedCount, ...(ids === null ? {} : { requestIds: ids.slice(0, IDS_TOLD) }) },
      })
    }
    return deletedCount
  })
}
