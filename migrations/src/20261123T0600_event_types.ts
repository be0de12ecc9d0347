import { type Kysely, sql } from 'kysely'

/** Names of event types for agents, and the mark below which events may be lost. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Made from the endpoint's name once: names of event types are identity.
  await sql`
    create table event_sources (
      endpoint_id uuid primary key references endpoints on delete cascade,
      workspace_id uuid not null references workspaces on delete cascade,
      slug text not null,
      -- A JSON list of paths that its events show by default; null until something was captured.
      fields text,
      fields_at timestamptz,
      unique (workspace_id, slug)
    )`.execute(db)
  // A listed type stays listed.
  await sql`
    create table event_labels (
      endpoint_id uuid not null references endpoints on delete cascade,
      label text not null,
      primary key (endpoint_id, label)
    )`.execute(db)
  // The largest id of a request that a limit or the retention removed. A constant default rewrites no row.
  await sql`alter table endpoint_counters add column removed_up_to bigint not null default 0`.execute(db)
}
