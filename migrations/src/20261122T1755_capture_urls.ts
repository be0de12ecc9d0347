import { type Kysely, sql } from 'kysely'

/** Makes capture URLs replaceable. Until then an endpoint's URL contains its id, and both columns are null. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table endpoints
      add column capture_id uuid unique,
      -- The one before, which goes on until then.
      add column previous_capture_id uuid unique,
      add column previous_capture_until timestamptz,
      add constraint previous_capture_ends check ((previous_capture_id is null) = (previous_capture_until is null))`.execute(
    db,
  )
}
