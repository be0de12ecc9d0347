import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  // A browser that is signed in. The value of its cookie is stored as SHA-256, like a key.
  await sql`
    create table sessions (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      -- The key that it was made with, and ends with. Null: made by a sign-in link, for the workspace's owner.
      api_key_id uuid references api_keys on delete cascade,
      sha256 bytea not null unique,
      user_agent text,
      created_at timestamptz not null,
      -- To the minute.
      seen_at timestamptz not null,
      expires_at timestamptz not null
    )`.execute(db)
  await sql`create index sessions_by_workspace on sessions (workspace_id, created_at)`.execute(db)

  // Unlogged, like the windows of keys: a budget need not survive a crash of Postgres.
  await sql`
    create unlogged table session_windows (
      session_id uuid primary key references sessions on delete cascade,
      started_at timestamptz not null,
      call_count integer not null
    ) with (fillfactor = 50)`.execute(db)

  // A link that signs in a browser, once.
  await sql`
    create table sign_in_links (
      sha256 bytea primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      expires_at timestamptz not null
    )`.execute(db)
  await sql`create index sign_in_links_by_workspace on sign_in_links (workspace_id)`.execute(db)

  // Precise to a minute.
  await sql`alter table api_keys add column last_used_at timestamptz`.execute(db)
}
