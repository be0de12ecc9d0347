import { type Kysely, sql } from 'kysely'

/** Imports in progress: their lines are staged until all are checked. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table imports (
      id uuid primary key,
      endpoint_id uuid not null references endpoints on delete cascade,
      -- Every line is checked, and all are stored from now on.
      is_accepted boolean not null default false,
      -- When another process may take it for abandoned.
      due_at timestamptz not null
    )`.execute(db)
  await sql`create index imports_endpoint on imports (endpoint_id)`.execute(db)
  await sql`
    create table import_batches (
      import_id uuid not null references imports on delete cascade,
      number integer not null,
      -- A JSON list of rows without their bodies.
      heads text not null,
      -- The bodies, one after the other.
      bodies bytea not null,
      primary key (import_id, number)
    )`.execute(db)
  // Uncompressed, so that one body is read without the others.
  await sql`alter table import_batches alter column bodies set storage external`.execute(db)
}
