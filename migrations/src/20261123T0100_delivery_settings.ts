import { type Kysely, sql } from 'kysely'

/**
 * How an action treats its destination. A null is the behaviour of the installation. Adding a column without a default, or with
 * a constant one, rewrites no row.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table actions
      add column delivery_policy text,
      add column auth_settings text,
      add column auth_secrets bytea,
      add column auth_set_at timestamptz,
      add column tls_certificates text,
      add column tls_client_key bytea,
      add column tls_set_at timestamptz,
      add column signing_scheme text not null default 'creel',
      add column paused_at timestamptz`.execute(db)
}
