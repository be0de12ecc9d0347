import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table workspaces (
      id uuid primary key,
      name text not null unique,
      plan text not null,
      created_at timestamptz not null
    )`.execute(db)

  await sql`
    create table api_keys (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      name text not null,
      -- The first characters of the key: safe to show, never enough to use.
      prefix text not null,
      sha256 bytea not null unique,
      created_at timestamptz not null,
      revoked_at timestamptz
    )`.execute(db)
  await sql`create index api_keys_by_workspace on api_keys (workspace_id, created_at)`.execute(db)

  // Unlogged: a budget need not survive a crash of Postgres, and every API call writes here.
  await sql`
    create unlogged table api_key_windows (
      api_key_id uuid primary key,
      started_at timestamptz not null,
      call_count integer not null
    ) with (fillfactor = 50)`.execute(db)

  // Slots for calls of which a limited number may run at once: awaits of a key, inline replays of a workspace. A row is
  // a slot that is in use until `ends_at`, or one that is reserved from `kept_from` on for a caller that was refused.
  await sql`
    create unlogged table concurrency_slots (
      id uuid primary key,
      scope text not null,
      kept_from timestamptz,
      ends_at timestamptz not null
    )`.execute(db)
  await sql`create index concurrency_slots_by_scope on concurrency_slots (scope)`.execute(db)

  await sql`
    create table contacts (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      email text not null,
      name text,
      created_at timestamptz not null,
      unique (workspace_id, email)
    )`.execute(db)

  // Values of the whole installation, e.g. the sealed sample by which CREEL_SECRET_KEY is checked.
  await sql`
    create table installation (
      name text primary key,
      value bytea not null
    )`.execute(db)
}
