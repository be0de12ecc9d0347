import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  // Criteria: one row for each distinct match of an endpoint, however many watchdogs share it. The rows are narrow and
  // hot, without an index on columns that change: each batch of captures updates the rows that it matched.
  await sql`
    create table watchdog_criteria (
      id uuid primary key,
      endpoint_id uuid not null references endpoints on delete cascade,
      -- Canonical JSON text (RFC 8785) and its digest: equal criteria are one row.
      match text not null,
      match_sha256 bytea not null,
      last_matched_at timestamptz,
      last_matched_request_id bigint,
      unique (endpoint_id, match_sha256)
    ) with (fillfactor = 40)`.execute(db)

  await sql`
    create table watchdogs (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      endpoint_id uuid not null references endpoints on delete cascade,
      criteria_id uuid not null references watchdog_criteria,
      name text not null,
      active boolean not null,
      paused_by_plan boolean not null default false,
      -- JSON text as the user wrote it; '{}' = every capture.
      match text not null,
      expected_interval_seconds integer not null,
      grace_seconds integer not null,
      -- waiting, watching or alarmed.
      phase text not null,
      armed_at timestamptz not null,
      -- What dueAt counts from: the last match, else the arming.
      baseline_at timestamptz not null,
      -- Matches up to this request id are part of this row; a later one of the criteria is not yet.
      settled_request_id bigint not null default 0,
      last_matched_at timestamptz,
      last_matched_request_id bigint,
      -- When to look: the alarm is never due earlier. Null while paused.
      alarm_at timestamptz,
      alarmed_at timestamptz,
      recovered_at timestamptz,
      last_alerted_at timestamptz,
      -- When to read the history once more, for captures that were judged by criteria of before an edit.
      recheck_at timestamptz,
      -- JSON text: array of contact ids.
      alert_contact_ids text not null default '[]',
      created_at timestamptz not null
    )`.execute(db)
  await sql`create index watchdogs_by_workspace on watchdogs (workspace_id, created_at desc, id desc)`.execute(
    db,
  )
  await sql`create index watchdogs_by_endpoint on watchdogs (endpoint_id)`.execute(db)
  await sql`create index watchdogs_by_criteria on watchdogs (criteria_id)`.execute(db)
  await sql`create index watchdogs_due on watchdogs (alarm_at) where phase <> 'alarmed'`.execute(db)
  await sql`create index watchdogs_alarmed on watchdogs (id) where phase = 'alarmed'`.execute(db)
  await sql`create index watchdogs_recheck on watchdogs (recheck_at) where recheck_at is not null`.execute(db)

  await sql`
    create constraint trigger count_revision after insert or delete on watchdogs deferrable initially deferred
    for each row execute function count_endpoint_revision('endpoint_id')`.execute(db)
  await sql`
    create constraint trigger count_changed_revision after update on watchdogs deferrable initially deferred
    for each row when (
      (new.active, new.paused_by_plan, new.criteria_id) is distinct from
      (old.active, old.paused_by_plan, old.criteria_id)
    ) execute function count_endpoint_revision('endpoint_id')`.execute(db)

  // A gateway writes here while it can accept captures. The gaps are downtime, for which no watchdog alarms.
  await sql`
    create table gateway_heartbeats (
      gateway_id uuid primary key,
      beat_at timestamptz not null
    )`.execute(db)
  await sql`
    create table gateway_outages (
      began_at timestamptz primary key,
      ended_at timestamptz not null
    )`.execute(db)
}
