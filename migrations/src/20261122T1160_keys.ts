import { type Kysely, sql } from 'kysely'

/** Scopes, bounds and uses of keys; keys of agents that signed in by OAuth; sessions of browsers. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table api_keys
      -- Precise to a minute.
      add column last_used_at timestamptz,
      add column scope text not null default 'admin' check (scope in ('read', 'write', 'admin')),
      -- The one endpoint that it is for; null: all of the workspace. Gone with the endpoint.
      add column endpoint_id uuid references endpoints on delete cascade,
      add column expires_at timestamptz,
      -- Networks that it may be used from, as CIDRs; null: from anywhere.
      add column allowed_networks text[] check (cardinality(allowed_networks) > 0),
      -- The key that took its place; it goes on until it expires, and counts no longer against the plan.
      add column replaced_by_id uuid,
      add column kind text not null default 'key' check (kind in ('key', 'oauth')),
      -- The URL of the client's metadata document.
      add column client_id text,
      -- End of the present access token, whose digest is in sha256; null before the first. The key itself ends with its grant.
      add column token_expires_at timestamptz,
      add constraint api_keys_of_clients check ((kind = 'oauth') = (client_id is not null));
    create index api_keys_by_endpoint on api_keys (endpoint_id) where endpoint_id is not null;

    create table oauth_grants (
      key_id uuid primary key references api_keys on delete cascade,
      redirect_uri text not null,
      code_challenge text not null,
      resource text not null,
      -- Kept after its use, so that a second use is noticed.
      code_sha256 bytea not null unique,
      code_expires_at timestamptz not null,
      code_used_at timestamptz,
      -- The part that all refresh tokens of the grant share, and the part of the present one; null before the first.
      family_sha256 bytea unique,
      refresh_sha256 bytea,
      -- The part of the refresh token before the present one.
      former_sha256 bytea,
      renewed_at timestamptz,
      -- The present tokens, sealed under the part that all refresh tokens of the grant share, which is not stored.
      recent_answer bytea
    );

    -- A browser that is signed in. The value of its cookie is stored as SHA-256, like a key.
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
    );
    create index sessions_by_workspace on sessions (workspace_id, created_at);
    create index sessions_by_api_key on sessions (api_key_id);

    -- Unlogged, like the windows of keys: a budget need not survive a crash of Postgres.
    create unlogged table session_windows (
      session_id uuid primary key references sessions on delete cascade,
      started_at timestamptz not null,
      call_count integer not null
    ) with (fillfactor = 50);

    -- A link that signs in a browser, once.
    create table sign_in_links (
      sha256 bytea primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      expires_at timestamptz not null,
      -- Null: the link signs in as the workspace's owner. Else it signs in as the key, for as long as the key is valid.
      api_key_id uuid references api_keys on delete cascade
    );
    create index sign_in_links_by_workspace on sign_in_links (workspace_id);
    create index sign_in_links_by_api_key on sign_in_links (api_key_id)`.execute(db)
}
