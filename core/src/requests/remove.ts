import type { Context } from '../api/context.ts'
import { lockCounters, moveToBin } from './queries.ts'

/**
 * Moves requests to the recycle bin. Deliveries that are already queued go on.
 *
 * @param ids which, or null for every one that is stored when the call begins
 * @returns how many moved
 */
export async function binRequests(
  ctx: Context,
  endpointId: string,
  ids: readonly number[] | null,
): Promise<number> {
  return await ctx.db.transaction().execute(async (trx) => {
    await lockCounters(trx, endpointId)
    return await moveToBin(trx, endpointId, ids, ctx.clock.now())
  })
}
