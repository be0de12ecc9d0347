import { type Kysely, sql } from 'kysely'

/** Links that show one request to readers without a key, until they expire or are revoked. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table share_links (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      endpoint_id uuid not null,
      -- No foreign key, which every deletion of requests would check: a link without its request shows nothing.
      request_id bigint not null,
      sha256 bytea not null unique,
      created_by text,
      created_at timestamptz not null,
      expires_at timestamptz not null
    )`.execute(db)
  await sql`create index share_links_by_workspace on share_links (workspace_id, created_at, id)`.execute(db)
}
