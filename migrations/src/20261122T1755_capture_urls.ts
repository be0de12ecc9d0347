import { type Kysely, sql } from 'kysely'

/** Capture URLs that can be replaced: an endpoint that never was has its id in them, and both columns null. */
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
