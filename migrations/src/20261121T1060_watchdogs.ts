import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table watchdogs (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      endpoint_id uuid not null references endpoints on delete cascade,
      name text not null,
      active boolean not null,
      paused_by_plan boolean not null default false,
      -- JSON text as the user wrote it; '{}' = every capture.
      match text not null,
      expected_interval_seconds integer not null,
      grace_seconds integer not null,
      armed_at timestamptz not null,
      -- What dueAt counts from: the last match, else the arming.
      baseline_at timestamptz not null,
      last_matched_at timestamptz,
      last_matched_request_id bigint,
      due_at timestamptz,
      alarm_at timestamptz,
      alarmed_at timestamptz,
      recovered_at timestamptz,
      last_alerted_at timestamptz,
      -- JSON text: array of contact ids.
      alert_contact_ids text not null default '[]',
      created_at timestamptz not null
    )`.execute(db)
  await sql`create index watchdogs_by_workspace on watchdogs (workspace_id, created_at desc, id desc)`.execute(
    db,
  )
  await sql`create index watchdogs_by_endpoint on watchdogs (endpoint_id)`.execute(db)
  await sql`
    create index watchdogs_due on watchdogs (alarm_at)
    where active and not paused_by_plan and alarmed_at is null`.execute(db)

  // A gateway writes here while it can take captures: the gaps are our own downtime (CONTRACT R45).
  await sql`
    create table gateway_heartbeats (
      gateway_id uuid primary key,
      beat_at timestamptz not null
    )`.execute(db)
}
