import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { isSealed } from '../api/seal.ts'
import { type EndpointRow, findEndpoint } from '../endpoints/index.ts'
import {
  countOf,
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
import { RUNNING_MAX } from './declarations.ts'
import type { ReplayOptions } from './options.ts'
import type { ScheduledItem } from './schedule.ts'

/** A row of `replays`: one run of a replay. */
export type RunRow = Selectable<ReplaysTable>

/** A position that the column can hold and no request has. */
export const NO_POSITION = 2 ** 31 - 1

/** Id and parsed options of a replay. */
interface Optioned {
  readonly id: string
  readonly options: ReplayOptions
}

/** One send as it is stored. */
export type ItemRow = Selectable<ReplayItemsTable>

export async function insertRun(
  trx: Trx,
  row: Insertable<ReplaysTable>,
  items: readonly ScheduledItem[],
): Promise<RunRow> {
  const inserted = await trx.insertInto('replays').values(row).returningAll().executeTakeFirstOrThrow()
  await sql`
    insert into replay_items (replay_id, position, request_id, fault, copy, due_ms)
    select ${row.id}::uuid, place, request_id, fault, copy, due_ms
    from unnest(${items.map(({ requestId }) => requestId)}::bigint[], ${items.map(({ fault }) => fault)}::text[],
      ${items.map(({ copy }) => copy)}::integer[], ${items.map(({ dueMs }) => dueMs)}::bigint[])
      with ordinality as i (request_id, fault, copy, due_ms, place)`.execute(trx)
  return inserted
}

/** The query of the replays of an endpoint; served by `replays_by_endpoint`. */
export const replaysOf = (db: Db, endpointId: string) =>
  db.selectFrom('replays').selectAll().where('endpointId', '=', endpointId)

export async function findRun(db: Db, endpointId: string, id: string) {
  return await replaysOf(db, endpointId).where('id', '=', id).executeTakeFirst()
}

const COUNT_ITEMS = statement(
  'count sends of replays',
  `select r.id as replay_id,
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
  from unnest($1::uuid[]) as r (id) left join replay_items on replay_id = r.id group by r.id`,
  { isPrepared: false, notNull: ['replayId'] },
)

/** How many sends of a replay are in each state, and of each outcome. */
export type ItemCounts = RowsOf<typeof COUNT_ITEMS>

export async function countItems(db: Db, ids: readonly string[]): Promise<Map<string, ItemCounts>> {
  if (ids.length === 0) return new Map()
  const rows = await run(db, COUNT_ITEMS, [ids])
  return new Map(rows.map((row) => [row.replayId, row]))
}

/** Whether a replay of many requests may begin: the service sends fewer than {@link RUNNING_MAX} of the workspace now. */
export async function hasRoom(trx: Trx, workspaceId: string): Promise<boolean> {
  const running = trx
    .selectFrom('replays')
    .where('workspaceId', '=', workspaceId)
    .where('state', '=', 'running')
    .where('listenedAt', 'is', null)
    .where('requestCount', '>', 1)
  return (await countOf(running)) < RUNNING_MAX
}

/** Finds the endpoint of a replay; the reason why the replay ends if that is gone, or forbids replays by now. */
export async function findPermitting(
  db: Db,
  { workspaceId, endpointId }: Pick<RunRow, 'workspaceId' | 'endpointId'>,
): Promise<EndpointRow | string> {
  const endpoint = await findEndpoint(db, workspaceId, endpointId)
  if (endpoint === undefined) return 'endpoint_gone'
  return endpoint.allowRehearsal ? endpoint : 'rehearsal_forbidden'
}

/** The query that locks a replay, whatever its state. */
export const lockRun = (trx: Trx, id: string) =>
  trx.selectFrom('replays').where('id', '=', id).selectAll().forUpdate()

export function updateRun(db: Db, id: string, changes: Updateable<ReplaysTable>): Promise<RunRow> {
  return db.updateTable('replays').set(changes).where('id', '=', id).returningAll().executeTakeFirstOrThrow()
}

/**
 * SQL for the first sends of the replay `p` that may begin at `now`: those that wait, and those whose lease has ended.
 * If the second of a duplicate is compared with the first (`isPaired`), it waits for the answer to that, its neighbour.
 */
const sendable = (now: string, limit: string, isPaired: string) => {
  const firstOf = (condition: string) => `(
    select w.position, w.due_ms, w.request_id from replay_items w where w.replay_id = p.id and ${condition} and not (
      w.copy = 1 and ${isPaired} and exists (
        select from replay_items f where f.replay_id = w.replay_id and f.position = w.position - 1
          and f.state in ('waiting', 'sending')))
    order by w.position limit ${limit})`
  return `(${firstOf("w.state = 'waiting'")} union all
    ${firstOf(`w.state = 'sending' and w.lease_ends_at <= ${now}`)} order by position limit ${limit})`
}

/** Whether the second of a duplicate is compared with the first. */
const isPaired = ({ compare }: ReplayOptions): boolean => compare?.with === 'first'

/** The progress of the locked replay `$1` at `$2`; `$3`: {@link isPaired}. */
const PROGRESS = statement(
  'progress of replay',
  `select s.plan, ${isSealed('s')} as is_sealed, clock_timestamp() as clock_at,
    (select w.due_ms from ${sendable('$2::timestamptz', '1', '$3::boolean')} w) as due_ms, l.under_way, l.lease_ends_at
  from replays p join workspaces s on s.id = p.workspace_id
  cross join lateral (
    select count(*)::int as under_way, min(i.lease_ends_at) as lease_ends_at from replay_items i
    where i.replay_id = p.id and i.state = 'sending' and i.lease_ends_at > $2::timestamptz
  ) l
  where p.id = $1::uuid`,
)

/** The progress of a replay: the next send that may begin and when it is due, and those under way. */
export type Progress = RowsOf<typeof PROGRESS>

export async function progressOf(
  trx: Trx,
  { id, options }: Optioned,
  now: Date,
): Promise<Progress | undefined> {
  const [progress] = await run(trx, PROGRESS, [id, now, isPaired(options)])
  return progress
}

/** Whether all sends have ended. */
export const isOver = ({ dueMs, underWay }: Progress): boolean => dueMs === null && underWay === 0

/**
 * Claims sends of the locked replay `$1` at `$2` that are due within `$3` ms of its start, `$4` at most, until `$5`.
 * Unless `$6` is null, the bodies of several have so many bytes together at most. `$7`: {@link isPaired}.
 */
const CLAIM = statement(
  'claim sends of replay',
  `with first as (
    select p.endpoint_id, w.position, w.due_ms, row_number() over by_position as place,
      sum(coalesce((select octet_length(r.body) from requests r
        where r.endpoint_id = p.endpoint_id and r.id = w.request_id), 0)) over by_position as bytes
    from replays p cross join lateral ${sendable('$2::timestamptz', '$4::int + 1', '$7::boolean')} w
    where p.id = $1::uuid
    window by_position as (order by w.position)
  ), picked as (
    select * from first where due_ms <= $3::bigint and place <= $4::int
      and (place = 1 or $6::bigint is null or bytes <= $6::bigint)
  )
  update replay_items i set state = 'sending', sent_at = $2::timestamptz, attempts = i.attempts + 1,
    lease_ends_at = $5::timestamptz
  from picked p where i.replay_id = $1::uuid and i.position = p.position
  returning i.replay_id, i.position, i.request_id, i.fault, i.copy, i.due_ms, i.sent_at, i.attempts,
    (select min(due_ms) from first where place = (select max(place) + 1 from picked)) as next_due_ms,
    (select octet_length(r.body) from requests r
    where r.endpoint_id = p.endpoint_id and r.id = i.request_id) as bytes`,
)

/** A send that is under way: it belongs to the process, or listener, that began it, until its lease ends. */
export type ClaimedItem = RowsOf<typeof CLAIM>

interface Claiming {
  readonly now: Date
  /** Time since the start of the replay, by which sends are due. */
  readonly elapsedMs: number
  readonly limit: number
  readonly leaseEndsAt: Date
  /** Bytes of the bodies of several sends; default any. One may have more. */
  readonly bytesMax?: number
}

/** Marks the next sends that are due as under way. The replay is locked and runs. */
export async function claimItems(
  trx: Trx,
  { id, options }: Optioned,
  { now, elapsedMs, limit, leaseEndsAt, bytesMax }: Claiming,
): Promise<ClaimedItem[]> {
  const values = [id, now, Math.floor(elapsedMs), limit, leaseEndsAt, bytesMax ?? null, isPaired(options)]
  const claimed = await run(trx, CLAIM, values)
  return [...claimed].sort((one, two) => one.position - two.position)
}

/** Sends that were under way are made again. */
export async function releaseItems(trx: Trx, replayId: string): Promise<void> {
  await trx
    .updateTable('replayItems')
    .set({ state: 'waiting' })
    .where('replayId', '=', replayId)
    .where('state', '=', 'sending')
    .execute()
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
    .select(['r.id', 'r.redaction', ...STORED_REQUEST_COLUMNS.map((name) => `r.${name}` as const)])
    .select(sealedMembers('r'))
    .executeTakeFirst()
}
