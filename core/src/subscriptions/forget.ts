import type { Db, Trx } from '../platform/db/index.ts'
import { sealedMembers } from '../platform/secrets/index.ts'

/** The next events that wait to be sent for a workspace, after an id. */
export async function nextAgentEvents(db: Db, workspaceId: string, afterId: number, limit: number) {
  return await db
    .selectFrom('eventDeliveries as d')
    .innerJoin('eventSubscriptions as s', 's.id', 'd.subscriptionId')
    .where('s.workspaceId', '=', workspaceId)
    .where('d.id', '>', afterId)
    .select(['d.id', 'd.body', 'd.attempts'])
    .select(sealedMembers('d'))
    .orderBy('d.id')
    .limit(limit)
    .execute()
}

/** Deletes events that wait to be sent. */
export async function forgetAgentEvents(trx: Trx, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  await trx.deleteFrom('eventDeliveries').where('id', 'in', ids).execute()
}
