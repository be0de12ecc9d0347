import { type Kysely, sql } from 'kysely'

/** The newest tokens of a grant, for a client that asks for them again at once. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table oauth_grants
      -- The part of the refresh token before the present one.
      add column former_sha256 bytea,
      add column renewed_at timestamptz,
      -- The present tokens, sealed under the part that all refresh tokens of the grant share, which is not stored.
      add column recent_answer bytea`.execute(db)
}
