import { type Kysely, sql } from 'kysely'

/** Rules that take data out of captures before they are stored, and the key of a workspace for its hashes. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table endpoints
      -- JSON: rule documents, or the steps of one rule.
      add column store_rules text not null default '[]',
      -- JSON: names of headers.
      add column drop_headers text not null default '[]'`.execute(db)
  // JSON: the paths that were taken out, and the fault of a trace. Null for a capture that is stored as it came.
  await sql`alter table requests add column redaction text`.execute(db)
  await sql`
    create table workspace_keys (
      id uuid primary key,
      workspace_id uuid not null unique references workspaces on delete cascade,
      -- Sealed with the key of the installation.
      hash_key bytea not null,
      created_at timestamptz not null
    )`.execute(db)
}
