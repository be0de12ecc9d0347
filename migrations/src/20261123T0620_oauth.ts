import { type Kysely, sql } from 'kysely'

/** Keys of agents that signed in by OAuth, and the grants behind them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table api_keys
      add column kind text not null default 'key' check (kind in ('key', 'oauth')),
      -- The URL of the client's metadata document.
      add column client_id text,
      -- End of the present access token, whose digest is in sha256; null before the first. The key itself ends with its grant.
      add column token_expires_at timestamptz,
      add constraint api_keys_of_clients check ((kind = 'oauth') = (client_id is not null))`.execute(db)
  await sql`
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
      refresh_sha256 bytea
    )`.execute(db)
}
