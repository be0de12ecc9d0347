import { type Kysely, sql } from 'kysely'

/** Erasures: jobs that find and delete everything that holds a value. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table erasures (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      -- Sealed, and null once the job has ended: the value must not outlive it.
      value bytea,
      value_hash text not null,
      -- JSON: the paths that are compared; [] for everything.
      paths text not null,
      mode text not null check (mode in ('delete', 'redact')),
      dry_run boolean not null,
      state text not null check (state in ('queued', 'running', 'done', 'failed')),
      -- JSON: counts, and where the job continues.
      progress text not null,
      due_at timestamptz not null,
      created_at timestamptz not null,
      finished_at timestamptz
    )`.execute(db)
  await sql`create index erasures_of_workspace on erasures (workspace_id, created_at desc, id desc)`.execute(
    db,
  )
  await sql`create index erasures_due on erasures (due_at) where finished_at is null`.execute(db)
}
