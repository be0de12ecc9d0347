import { type Kysely, sql } from 'kysely'

/**
 * Imported requests by their times, which do not follow their ids as those of captures do. The retention finds those
 * that have ended. Captures have no entry in it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index requests_imported on requests (endpoint_id, received_at) where imported`.execute(db)
}
