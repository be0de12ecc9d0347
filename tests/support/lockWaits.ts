import { type Kysely, sql } from 'kysely'

/** Whether a statement in the database waits for a lock, such as one of the caller's transaction. */
export async function isWaitingForLock<Tables>(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql`
    select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`.execute(db)
  return rows.length > 0
}
