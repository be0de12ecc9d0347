import { type Kysely, sql } from 'kysely'

/** Events that an endpoint takes once: their claims, and the requests that came after the first. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // JSON; null where an endpoint takes every event.
  await sql`alter table endpoints add column dedupe text`.execute(db)
  // The first request of the same event, which may be gone. Captures without a claim leave it out, so it costs them nothing.
  await sql`alter table requests add column duplicate_of bigint`.execute(db)
  // One row an event that was stored, until its window ends. Without a foreign key, as requests are.
  await sql`
    create table event_claims (
      endpoint_id uuid not null,
      -- 128 bits of a digest of the event's id, the place of the id, and the class of the verdict.
      key uuid not null,
      first_request_id bigint not null,
      expires_at timestamptz not null,
      primary key (endpoint_id, key)
    )`.execute(db)
  await sql`create index event_claims_expiring on event_claims (endpoint_id, expires_at)`.execute(db)
  await sql`
    alter table endpoint_counters
      -- Always equals the rows of event_claims.
      add column claim_count bigint not null default 0,
      add column discarded_count bigint not null default 0,
      add column last_discarded_at timestamptz`.execute(db)
  await sql`alter table rejection_minutes add column discarded_count bigint not null default 0`.execute(db)
}
