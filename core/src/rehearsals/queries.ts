import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { type Between, pageByTime, type TimePlace } from '../api/cursors.ts'
import type { Page } from '../api/pagination.ts'
import { isSealed } from '../keys/index.ts'
import {
  type Db,
  type ReplayItemsTable,
  type ReplaysTable,
  type RowsOf,
  run,
  statement,
  type Trx,
} from '../platform/db/index.ts'
import { sealedMembers } from '../platform/secrets/index.ts'
import { STORED_REQUEST_COLUMNS, visibleRequests } from '../requests/index.ts'
import { lockRun } from '../runs/index.ts'
import { REPLAYS } from './jobs.ts'
import { FOR_LISTENERS } from './options.ts'
import type { ScheduledItem } from './schedule.ts'

/** A replay as it is stored. */
export type ReplayRow = Selectable<ReplaysTable>

/** One send as it is stored. */
export type ItemRow = Selectable<ReplayItemsTable>

export async function insertReplay(
  trx: Trx,
  row: Insertable<ReplaysTable>,
  items: readonly ScheduledItem[],
): Promise<void> {
  await trx.insertInto('replays').values(row).execute()
  await sql`
    insert into replay_items (replay_id, position, request_id, fault, copy, due_ms)
    select ${row.id}::uuid, place, request_id, fault, copy, due_ms
    from unnest(${items.map(({ requestId }) => requestId)}::bigint[], ${items.map(({ fault }) => fault)}::text[],
      ${items.map(({ copy }) => copy)}::integer[], ${items.map(({ dueMs }) => dueMs)}::bigint[])
      with ordinality as i (request_id, fault, copy, due_ms, place)`.execute(trx)
}

export async function findReplay(db: Db, endpointId: string, id: string): Promise<ReplayRow | undefined> {
  return await db
    .selectFrom('replays')
    .where('endpointId', '=', endpointId)
    .where('id', '=', id)
    .selectAll()
    .executeTakeFirst()
}

/** One page of an endpoint's replays, newest first; served by `replays_by_endpoint`. */
export async function listReplays(db: Db, endpointId: string, page: Page & Between<TimePlace>) {
  const ofEndpoint = db.selectFrom('replays').selectAll().where('endpointId', '=', endpointId)
  return await pageByTime(ofEndpoint, ['createdAt', 'id'], page)
}

const COUNT_ITEMS = statement(
  'count sends of replays',
  `select replay_id,
    (count(*) filter (where state in ('waiting', 'sending')))::int as waiting,
    (count(*) filter (where state = 'done'))::int as done,
    (count(*) filter (where state = 'errored'))::int as errored,
    (count(*) filter (where outcome = 'equal'))::int as equal,
    (count(*) filter (where outcome = 'changed'))::int as changed,
    (count(*) filter (where outcome = 'failed'))::int as failed,
    (count(*) filter (where outcome = 'slower'))::int as slower,
    (count(*) filter (where state = 'done' and outcome is null))::int as uncompared,
    (count(*) filter (where state = 'done' and outcome is null and copy = 0 and fault = 'duplicate'))::int
      as firsts
  from replay_items where replay_id = any($1::uuid[]) group by replay_id`,
  { isPrepared: false },
)

/** How many sends of a replay are in each state, and of each outcome. */
export type ItemCounts = RowsOf<typeof COUNT_ITEMS>

export async function countItems(db: Db, ids: readonly string[]): Promise<Map<string, ItemCounts>> {
  if (ids.length === 0) return new Map()
  const rows = await run(db, COUNT_ITEMS, [ids])
  return new Map(rows.map((row) => [row.replayId, row]))
}

/** Replays of a workspace that the service sends now. */
export async function countRunning(trx: Trx, workspaceId: string): Promise<number> {
  const { count } = await trx
    .selectFrom('replays')
    .where('workspaceId', '=', workspaceId)
    .where('state', '=', 'running')
    .where('options', 'not like', FOR_LISTENERS)
    .select((of) => of.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** Locks a replay, whatever its state; undefined when it is gone. */
export const lockReplay = (trx: Trx, id: string) => lockRun<ReplayRow>(trx, REPLAYS, id)

export async function updateReplay(db: Db, id: string, changes: Updateable<ReplaysTable>): Promise<void> {
  await db.updateTable('replays').set(changes).where('id', '=', id).execute()
}

/** The job that makes the sends of a replay; null for listeners. */
export interface Holder {
  readonly replayId: string
  readonly leaseId: string | null
  /** Whether the second send of a duplicate waits for the answer to the first. */
  readonly inPairs: boolean
  readonly now: Date
}

/**
 * Marks the next sends that are due as under way, so that each is made once. A listener has a lease of each.
 *
 * @param elapsedMs time since the start of the replay, by which sends are due
 * @returns none if the replay does not run, or another job holds it
 */
export async function claimItems(
  db: Db,
  holder: Holder,
  {
    elapsedMs,
    limit,
    leaseEndsAt = null,
  }: { readonly elapsedMs: number; readonly limit: number; readonly leaseEndsAt?: Date | null },
): Promise<ItemRow[]> {
  const claimed = await db
    .updateTable('replayItems')
    .set({ state: 'sending', sentAt: holder.now, leaseEndsAt })
    .where('replayId', '=', holder.replayId)
    .where(
      sql<boolean>`position = any(array(
        select w.position ${sendable(holder)} and w.due_ms <= ${elapsedMs} and exists (select ${held(holder)})
        order by w.position limit ${limit} for update of w skip locked))`,
    )
    .returningAll()
    .execute()
  return claimed.sort((one, two) => one.position - two.position)
}

/**
 * Finds when the next send that may begin is due, from the start of the replay; null if there is none now.
 *
 * @returns undefined if the replay does not run, or another job holds it
 */
export async function nextDue(
  db: Db,
  holder: Holder,
): Promise<{ readonly dueMs: number | null } | undefined> {
  const { rows } = await sql<{ dueMs: number | null }>`
    select (select w.due_ms ${sendable(holder)} order by w.position limit 1) as due_ms ${held(holder)}`.execute(
    db,
  )
  return rows[0]
}

/**
 * Waiting sends, and those whose listener has kept them longer than its lease; in pairs without the second ones whose
 * first, their neighbour, is not answered.
 */
const sendable = ({ replayId, inPairs, now }: Holder) => sql`
  from replay_items w where w.replay_id = ${replayId}
    and (w.state = 'waiting' or w.state = 'sending' and w.lease_ends_at <= ${now}) and not (
    ${inPairs} and w.copy = 1 and exists (select from replay_items f
      where f.replay_id = w.replay_id and f.position = w.position - 1 and f.state in ('waiting', 'sending')))`

const held = ({ replayId, leaseId }: Holder) => sql`
  from replays p where p.id = ${replayId} and p.state = 'running' and p.lease_id is not distinct from ${leaseId}::uuid
    and not exists (select from workspaces s where s.id = p.workspace_id and ${sql.raw(isSealed('s'))})`

/** Leases of listeners that have not ended: how many, and when the first does. */
export async function liveLeases(
  db: Db,
  replayId: string,
  now: Date,
): Promise<{ readonly count: number; readonly firstEndsAt: Date | null }> {
  return await db
    .selectFrom('replayItems')
    .where('replayId', '=', replayId)
    .where('state', '=', 'sending')
    .where('leaseEndsAt', '>', now)
    .select(({ fn }) => [fn.countAll<number>().as('count'), fn.min('leaseEndsAt').as('firstEndsAt')])
    .executeTakeFirstOrThrow()
}

/** Sends that were under way when their job was lost are made again. */
export async function releaseItems(trx: Trx, replayId: string): Promise<void> {
  await trx
    .updateTable('replayItems')
    .set({ state: 'waiting' })
    .where('replayId', '=', replayId)
    .where('state', '=', 'sending')
    .execute()
}

export type ItemEnd = Pick<
  ItemRow,
  | 'state'
  | 'durationMs'
  | 'statusCode'
  | 'error'
  | 'headers'
  | 'body'
  | 'outcome'
  | 'differences'
  | 'sealedWith'
  | 'sealed'
>

/** Stores the end of a send that is under way. Returns false if it was not. */
export async function finishItem(
  trx: Trx,
  { replayId, position }: Pick<ItemRow, 'replayId' | 'position'>,
  end: ItemEnd,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('replayItems')
    .set(end)
    .where('replayId', '=', replayId)
    .where('position', '=', position)
    .where('state', '=', 'sending')
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Answers to one request of a replay, first send first. */
export async function answersTo(db: Db, replayId: string, requestId: number): Promise<ItemRow[]> {
  return await db
    .selectFrom('replayItems')
    .where('replayId', '=', replayId)
    .where('requestId', '=', requestId)
    .where('state', '=', 'done')
    .orderBy('copy')
    .selectAll()
    .select(sealedMembers('replay_items'))
    .execute()
}

/** A captured request with what its restoration needs; undefined once it is deleted. */
export async function findCaptured(db: Db, endpointId: string, requestId: number) {
  return await visibleRequests(db, endpointId)
    .where('r.id', '=', requestId)
    .select(['r.id', ...STORED_REQUEST_COLUMNS.map((name) => `r.${name}` as const)])
    .select(sealedMembers('r'))
    .executeTakeFirst()
}
