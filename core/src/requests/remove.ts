import type { Context } from '../api/context.ts'
import { recordChange } from '../audit/index.ts'
import { lockCounters, moveToBin } from './queries.ts'

/** The most ids in the audit entry; the rest are only counted. */
const IDS_TOLD = 100

/**
 * Moves requests to the recycle bin. Deliveries that are already queued continue.
 *
 * @param ids ids of the requests; null for all that are stored when the call begins
 * @param action name of the action in the audit log
 * @returns the number of moved requests
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
