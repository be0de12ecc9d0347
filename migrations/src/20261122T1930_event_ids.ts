import { type Kysely, sql } from 'kysely'

/** The sender's own id of each event. Requests that are stored already have none: nothing reads their bodies again. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table requests add column event_id text`.execute(db)
  await sql`alter table endpoints add column event_id_path text`.execute(db)
  // In the order of the list, and without an entry for requests that have no id.
  await sql`create index requests_by_event on requests (endpoint_id, event_id, id) where event_id is not null`.execute(
    db,
  )
}
