import { type Kysely, sql } from 'kysely'

/** Whether a statement in the database waits for a lock, such as one of the caller's transaction. */
export async function isWaitingForLock<Tables>(db: Kysely<Tables>): Promise<boolean> {
  return (await countLockWaits(db)) > 0
}

/** How many statements of the database wait for a lock. */
export async function countLockWaits<Tables>(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql`
    select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`.execute(db)
  return rows.length
}
