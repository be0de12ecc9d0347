import { setTimeout as pause } from 'node:timers/promises'
import type { Db } from '../../platform/db/index.ts'
import { query } from './tables.ts'

/** Length of a seal. It ends by itself, so that a move that is killed does not stop the workspace. */
export const SEAL_SECONDS = 30
/** Least time of the seal that must be left for the switch. */
export const SWITCH_SECONDS = 10

/** Interval of looks at transactions and attempts that end. */
const LOOK_MS = 10
/** Timeout for transactions that began before the seal: longer than the longest statement of a capture. */
const WRITERS_MS = 25_000
/** Timeout for attempts under way. Later ones are repeated from the target, like those of a process that died. */
const ATTEMPTS_MS = 250

/**
 * Seals a workspace: its captures and calls are answered 503, and no attempt begins. Returns when every transaction that
 * may not know of the seal has ended.
 *
 * @throws Error when one does not end; the seal ends by itself
 */
export async function seal(source: Db, workspaceId: string): Promise<void> {
  await query(
    source,
    `with sealed as (
      update workspaces set sealed_until = clock_timestamp() + interval '${SEAL_SECONDS} s' where id = $1 returning id
    )
    update endpoint_revisions r set revision = revision + 1
    from endpoints e join sealed on sealed.id = e.workspace_id where r.endpoint_id = e.id`,
    [workspaceId],
  )
  await writersHaveEnded(source)
  await attemptsHaveEnded(source, workspaceId)
}

/** Ends the seal. Waiting deliveries have a job or a due time, so they start by themselves. */
export async function unseal(source: Db, workspaceId: string): Promise<void> {
  await query(source, 'update workspaces set sealed_until = null where id = $1', [workspaceId])
}

/** Waits for the transactions that hold a lock to write now, like PostgreSQL itself before it builds an index. */
async function writersHaveEnded(source: Db): Promise<void> {
  const [{ writers } = { writers: [] }] = await query<{ writers: readonly string[] }>(
    source,
    `select coalesce(array_agg(distinct l.virtualtransaction), '{}') as writers
    from pg_locks l
    where l.locktype = 'relation' and l.mode = 'RowExclusiveLock' and l.pid <> pg_backend_pid()
      and l.database = (select oid from pg_database where datname = current_database())`,
  )
  for (const deadline = performance.now() + WRITERS_MS; ; ) {
    const [{ left } = { left: 0 }] = await query<{ left: number }>(
      source,
      `select count(*)::int as left from pg_locks
      where locktype = 'virtualxid' and virtualxid = any($1::text[]) and virtualtransaction = virtualxid`,
      [writers],
    )
    if (left === 0) return
    if (performance.now() > deadline)
      throw new Error('A transaction that began before the seal does not end.')
    await pause(LOOK_MS)
  }
}

async function attemptsHaveEnded(source: Db, workspaceId: string): Promise<void> {
  for (const deadline = performance.now() + ATTEMPTS_MS; performance.now() < deadline; ) {
    const [{ left } = { left: 0 }] = await query<{ left: number }>(
      source,
      `select (
        (select count(*) from delivery_attempts
         where state = 'Pending' and endpoint_id in (select id from endpoints where workspace_id = $1)) +
        (select count(*) from alert_deliveries where workspace_id = $1 and leased_until > clock_timestamp()) +
        (select count(*) from event_deliveries where leased_until > clock_timestamp()
         and subscription_id in (select id from event_subscriptions where workspace_id = $1))
      )::int as left`,
      [workspaceId],
    )
    if (left === 0) return
    await pause(LOOK_MS)
  }
}
