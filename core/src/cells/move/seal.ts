import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../platform/db/index.ts'
import type { Step } from './steps.ts'
import { type MovedTable, query } from './tables.ts'

/** Length of a seal. It ends by itself, so that a move that is killed does not stop the workspace. */
export const SEAL_SECONDS = 30
/** Least time of the seal that must be left for the switch. */
export const SWITCH_SECONDS = 10

/** Interval of looks at transactions and attempts that end. */
const LOOK_MS = 10
/** Timeout for transactions that began before the seal. If one takes longer, the seal ends, and is tried again. */
const SEALED_WRITERS_MS = 500
/** Timeout for attempts under way. Later ones are repeated from the target, like those of a process that died. */
const ATTEMPTS_MS = 250

/**
 * Seals a workspace: its captures and calls are answered 503, and no attempt begins. Returns when every transaction that
 * may not know of the seal has ended.
 *
 * @returns false if one does not end soon; then the workspace is not sealed
 */
export async function seal(source: Db, workspaceId: string, tables: readonly MovedTable[]): Promise<boolean> {
  await query(
    source,
    `with sealed as (
      update workspaces set sealed_until = clock_timestamp() + interval '${SEAL_SECONDS} s' where id = $1 returning id
    )
    update endpoint_revisions r set revision = revision + 1
    from endpoints e join sealed on sealed.id = e.workspace_id where r.endpoint_id = e.id`,
    [workspaceId],
  )
  const haveEnded = await writersHaveEnded(source, tables, SEALED_WRITERS_MS)
  if (haveEnded) await attemptsHaveEnded(source, workspaceId)
  else await unseal(source, workspaceId)
  return haveEnded
}

/** Ends the seal. Waiting deliveries have a job or a due time, so they start by themselves. */
export async function unseal(source: Db, workspaceId: string): Promise<void> {
  await query(source, 'update workspaces set sealed_until = null where id = $1', [workspaceId])
}

/** Advisory lock, shared, of transactions in which workspaces arrive. These write no rows of another workspace. */
const ARRIVALS = 1_836_021_349

/** The step that marks a transaction as one in which a workspace arrives: moves out of its cell do not wait for it. */
export const ARRIVES: Step = { text: `select null::json from pg_advisory_xact_lock_shared(${ARRIVALS}, 0)` }

/** SQL condition for a session in whose transaction no workspace arrives, by SQL for its process. */
const isNoArrival = (pid: string): string => `not exists (select from pg_locks a
  where a.pid = ${pid} and a.locktype = 'advisory' and a.classid = ${ARRIVALS} and a.objid = 0 and a.objsubid = 2)`

/**
 * The oldest transaction whose rows a snapshot that is made afterwards may not have. Transactions of other databases of
 * the server, however long, write no rows of this one.
 *
 * @param source outside of a transaction, in which activity is read once only
 */
export async function oldestWriter(source: Db): Promise<string> {
  const [row] = await query<{ since: string }>(
    source,
    `select w.xid::text as since from (
      select pg_snapshot_xmax(pg_current_snapshot())::xid
      union all
      select s.backend_xid from pg_stat_activity s where s.datname = current_database() and ${isNoArrival('s.pid')}
      union all
      select p.transaction from pg_prepared_xacts p where p.database = current_database()
    ) w (xid) where w.xid is not null order by age(w.xid) desc limit 1`,
  )
  if (row === undefined) throw new Error('PostgreSQL gave no snapshot.')
  return row.since
}

/**
 * Waits for the transactions that write to the tables of workspaces now, like PostgreSQL itself before it builds an
 * index. A vacuum holds such locks on indexes only.
 *
 * @returns false if one does not end in time
 */
export async function writersHaveEnded(
  source: Db,
  tables: readonly MovedTable[],
  timeoutMs: number,
): Promise<boolean> {
  const [{ writers } = { writers: [] }] = await query<{ writers: readonly string[] }>(
    source,
    `select coalesce(array_agg(distinct l.virtualtransaction), '{}') as writers
    from pg_locks l
    where l.locktype = 'relation' and l.mode = 'RowExclusiveLock' and l.pid <> pg_backend_pid()
      and l.database = (select oid from pg_database where datname = current_database())
      and l.relation = any($1::text[]::regclass[]::oid[]) and ${isNoArrival('l.pid')}`,
    [tables.map(({ name }) => name)],
  )
  if (writers.length === 0) return true
  const text = `select count(*)::int as left from pg_locks
    where locktype = 'virtualxid' and virtualxid = any($1::text[]) and virtualtransaction = virtualxid`
  return await noneLeft(source, text, writers, timeoutMs)
}

async function attemptsHaveEnded(source: Db, workspaceId: string): Promise<void> {
  const text = `select (
    (select count(*) from delivery_attempts
     where state = 'Pending' and endpoint_id in (select id from endpoints where workspace_id = $1)) +
    (select count(*) from alert_deliveries where workspace_id = $1 and leased_until > clock_timestamp()) +
    (select count(*) from event_deliveries where leased_until > clock_timestamp()
     and subscription_id in (select id from event_subscriptions where workspace_id = $1))
  )::int as left`
  await noneLeft(source, text, workspaceId, ATTEMPTS_MS)
}

async function noneLeft(source: Db, text: string, value: unknown, timeoutMs: number): Promise<boolean> {
  for (const deadline = performance.now() + timeoutMs; ; ) {
    const [row] = await query<{ left: number }>(source, text, [value])
    if (row?.left === 0) return true
    if (performance.now() > deadline) return false
    await sleep(LOOK_MS)
  }
}
