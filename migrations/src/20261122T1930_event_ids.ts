import { type Kysely, sql } from 'kysely'

/** The sender's own id of each event. Requests that are already stored get none: their bodies are not read again. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table requests add column event_id text`.execute(db)
  await sql`alter table endpoints add column event_id_path text`.execute(db)
  // The index has the order of the list, and no entry for requests without an id.
  await sql`create index requests_by_event on requests (endpoint_id, event_id, id) where event_id is not null`.execute(
    db,
  )
}
