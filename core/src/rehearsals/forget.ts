import { sql } from 'kysely'
import type { Db, Trx } from '../platform/db/index.ts'
import { sealedMembers } from '../platform/secrets/index.ts'

/** Place of a send among all of a workspace. */
export interface AnswerPlace {
  readonly replayId: string
  readonly position: number
}

/** The next recorded answers of a workspace's replays after a place, and errors. */
export async function nextAnswers(db: Db, workspaceId: string, after: AnswerPlace, limit: number) {
  return await db
    .selectFrom('replayItems as i')
    .innerJoin('replays as r', 'r.id', 'i.replayId')
    .where('r.workspaceId', '=', workspaceId)
    .where(sql<boolean>`(i.replay_id, i.position) > (${after.replayId}::uuid, ${after.position}::integer)`)
    .select(['i.replayId', 'i.position', 'i.error', 'i.headers', 'i.body', 'i.differences'])
    .select(sealedMembers('i'))
    .orderBy('i.replayId')
    .orderBy('i.position')
    .limit(limit)
    .execute()
}

/** Deletes recorded answers. The sends stay in their replays, with status and time. */
export async function forgetAnswers(trx: Trx, places: readonly AnswerPlace[]): Promise<void> {
  for (const { replayId, position } of places) {
    await trx
      .updateTable('replayItems')
      .set({ headers: null, body: null, differences: null, error: null, sealedWith: null, sealed: null })
      .where('replayId', '=', replayId)
      .where('position', '=', position)
      .execute()
  }
}
