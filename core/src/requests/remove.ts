import { sql } from 'kysely'
import type { Context } from '../api/context.ts'
import { recordChange } from '../audit/index.ts'
import { lockCounters, moveToBin } from './queries.ts'

/** The most ids in the audit entry; the rest are only counted. */
const IDS_TOLD = 100

/** Requests that one transaction of {@link clearRequests} moves: captures wait for its locks. */
const CLEARED_AT_ONCE = 1_000

/**
 * Moves all requests that are stored when the call begins to the recycle bin, newest first, in transactions with an
 * entry of the audit log each. After an interruption a second call moves the rest.
 *
 * @returns the number of moved requests
 */
export async function clearRequests(ctx: Context, endpointId: string): Promise<number> {
  let deletedCount = 0
  for (let belowId = Number.MAX_SAFE_INTEGER; ; ) {
    const { rows } = await sql<{ id: number }>`
      select id from requests
      where endpoint_id = ${endpointId} and id < ${belowId} and deleted_at is null and hidden_at is null
      order by id desc limit ${CLEARED_AT_ONCE}`.execute(ctx.db)
    const ids = rows.map(({ id }) => id)
    if (ids.length === 0) return deletedCount
    deletedCount += await binRequests(ctx, endpointId, ids, 'requests.clear')
    belowId = ids.at(-1) ?? 0
  }
}

/**
 * Moves requests to the recycle bin. Deliveries that are already queued continue.
 *
 * @param action name of the action in the audit log
 * @returns the number of moved requests
 */
export async function binRequests(
  ctx: Context,
  endpointId: string,
  ids: readonly number[],
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
        after: { deletedCount, ...(action !== 'requests.clear' && { requestIds: ids.slice(0, IDS_TOLD) }) },
      })
    }
    return deletedCount
  })
}
