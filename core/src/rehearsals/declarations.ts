import { type Selectable, sql } from 'kysely'
import { laneQueue } from '../dispatch/index.ts'
import type { Db, ReplayItemsTable, Trx } from '../platform/db/index.ts'
import { sweepQueue } from '../platform/queues.ts'
import { type DataKeyRef, type SecretBox, sealedAs, sealedMembers } from '../platform/secrets/index.ts'
import { HOUR_MS } from '../platform/time/index.ts'

/** Requests that one replay sends, at most. */
export const REQUESTS_MAX = 10_000

/** Requests a second of a replay without a pace. */
export const PER_SECOND_DEFAULT = 50

/** Longest replay by its pace, in milliseconds. */
export const RUN_MS_MAX = 24 * HOUR_MS

/**
 * Replays of a workspace that the service sends at once; the others wait. Replays of one request, and those for
 * listeners, do not count.
 */
export const RUNNING_MAX = 2

/** Replays of a workspace that run, wait or are paused. As many again may have one request. */
export const UNFINISHED_MAX = 10

/** Ended replays that are kept for each workspace, and as many again of one request. */
export const ENDED_KEPT = 20

/** Bytes of the body of an answer that are kept. */
export const ANSWER_BYTES_MAX = 256 * 1024

/**
 * Bytes of all answers of a replay that are kept: their headers, their bodies, and the differences. Later answers keep only
 * status, time and outcome.
 */
export const ANSWERS_BYTES_MAX = 16 * 1024 * 1024

/** Time beyond the limit of a send after which it counts as lost, in milliseconds. It is recorded within this time. */
export const LEASE_GRACE_MS = 15_000

/** Times that a send may be begun and lost with its process. After these it is given up, as the possible cause. */
export const LOST_MAX = 3

/** Calls of a key that wait for requests of replays. */
export const WAITING_TAKES_MAX = 32

/** Time limit of a send by a listener if the replay names none, in seconds. */
export const LISTENER_TIMEOUT_SECONDS = 60

/** Time beyond the limit of a send after which a request that was taken is given again, in milliseconds. */
export const ANSWER_GRACE_MS = 30_000

/** A replay for listeners is paused when none has taken or answered for this time, in milliseconds. */
export const ABANDONED_MS = 15 * 60_000

/** Bytes of the bodies of several requests in one answer, of `take` or a dry run; one may have more. */
export const GIVEN_BYTES_MAX = 16 * 1024 * 1024

/** Requests that `dryRun` shows as they would go out. */
export const SHOWN_MAX = 10

/** Differences of one answer that are kept. */
export const DIFFERENCES_MAX = 50

/** Looks at replays of many requests that the service sends. */
export const REPLAY_LANES = laneQueue('replays.lanes')

/** Pauses replays whose listeners have gone. */
export const REPLAY_SWEEP = sweepQueue('replays.sweep', 300)

/** Answers that one call seals; of each, the body has at most 64 KiB. */
const AT_ONCE = 50

/** Seals answers that replays of an endpoint have recorded. Returns whether there may be more. */
export async function sealAnswers(
  secrets: Pick<SecretBox, 'open'>,
  trx: Trx,
  endpointId: string,
  sealing: DataKeyRef,
): Promise<boolean> {
  const rows = await trx
    .selectFrom('replayItems as i')
    .innerJoin('replays as r', 'r.id', 'i.replayId')
    .where('r.endpointId', '=', endpointId)
    .where('i.sealedWith', 'is', null)
    .where('i.headers', 'is not', null)
    .select(['i.replayId', 'i.position', 'i.headers', 'i.body', 'i.differences'])
    .limit(AT_ONCE)
    .execute()
  for (const { replayId, position, ...answer } of rows)
    await trx
      .updateTable('replayItems')
      .set({ headers: null, body: null, differences: null, ...sealedAs(secrets, sealing, answer) })
      .where('replayId', '=', replayId)
      .where('position', '=', position)
      .execute()
  return rows.length === AT_ONCE
}

/** Place of a send among all of a workspace. */
type AnswerPlace = Pick<Selectable<ReplayItemsTable>, 'replayId' | 'position'>

/** Whether a send of a workspace's replays, begun by a time, is under way: its answer is still to be recorded. */
export async function isAnySending(
  db: Db,
  workspaceId: string,
  { now, sentUpTo }: { readonly now: Date; readonly sentUpTo: Date },
): Promise<boolean> {
  const row = await db
    .selectFrom('replayItems as i')
    .innerJoin('replays as r', 'r.id', 'i.replayId')
    .where('r.workspaceId', '=', workspaceId)
    .where('i.state', '=', 'sending')
    .where('i.leaseEndsAt', '>', now)
    .where('i.sentAt', '<=', sentUpTo)
    .select('i.replayId')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
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
