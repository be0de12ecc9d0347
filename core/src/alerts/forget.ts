import type { Db, Trx } from '../platform/db/index.ts'
import { sealedMembers } from '../platform/secrets/index.ts'

export async function nextReasons(db: Db, workspaceId: string, afterId: string, limit: number) {
  return await db
    .selectFrom('alerts')
    .where('workspaceId', '=', workspaceId)
    .where('id', '>', afterId)
    .where((where) => where.or([where('reason', 'is not', null), where('sealed', 'is not', null)]))
    .select(['id', 'reason'])
    .select(sealedMembers('alerts'))
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** Deletes messages of alerts. The alerts stay in the history. */
export async function forgetReasons(trx: Trx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await trx
    .updateTable('alerts')
    .set({ reason: null, sealedWith: null, sealed: null })
    .where('id', 'in', ids)
    .execute()
}
