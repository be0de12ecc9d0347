import { type Kysely, sql } from 'kysely'

/** Originals of captures that are stored without what rules take out, for their deliveries, and their keys. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table endpoints
      add column forward_original boolean not null default false,
      -- Null: the default.
      add column original_hours integer`.execute(db)
  await sql`
    create table request_originals (
      endpoint_id uuid not null,
      request_id bigint not null,
      -- Sealed with the key in creel_keys.original_keys.
      original bytea not null,
      expires_at timestamptz not null,
      primary key (endpoint_id, request_id)
    )`.execute(db)
  await sql`create index request_originals_expiring on request_originals (expires_at)`.execute(db)
  // A schema of its own: a backup of the others does not have the keys, so what they seal ends with them.
  await sql`create schema creel_keys`.execute(db)
  await sql`
    create table creel_keys.original_keys (
      id uuid primary key,
      workspace_id uuid not null,
      endpoint_id uuid not null,
      request_id bigint not null,
      -- Sealed with the key of the installation.
      original_key bytea not null,
      unique (endpoint_id, request_id)
    )`.execute(db)
}
