import { type Kysely, sql } from 'kysely'

/** Restricts the senders whose captures an endpoint accepts, and counts the refused ones. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table endpoints
      add column reject_unverified boolean not null default false,
      -- A JSON list of networks; empty: from anywhere.
      add column allowed_senders text not null default '[]'`.execute(db)
  await sql`
    alter table endpoint_counters
      add column refused_count bigint not null default 0,
      add column last_refused_at timestamptz,
      add column last_refusal text`.execute(db)
}
