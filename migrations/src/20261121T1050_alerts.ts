import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table alert_channels (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      kind text not null,
      name text not null,
      enabled boolean not null,
      secret bytea,
      secret_set_at timestamptz,
      -- JSON text; never holds a secret.
      settings text not null,
      -- JSON text: [{kind, minSeverity}].
      events text not null,
      muted_until timestamptz,
      health text not null default 'untested',
      last_success_at timestamptz,
      last_failure_at timestamptz,
      last_error text,
      consecutive_failures integer not null default 0,
      created_at timestamptz not null
    )`.execute(db)
  await sql`create index alert_channels_by_workspace on alert_channels (workspace_id, created_at)`.execute(db)

  // Lasting conditions: one open row per kind and subject, however often the cause recurs.
  await sql`
    create table incidents (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      -- The event kind that opened it.
      kind text not null,
      severity text not null,
      subject_type text not null,
      subject_id uuid not null,
      subject_name text not null,
      endpoint_id uuid,
      endpoint_name text,
      -- How often the cause came: parked deliveries.
      count integer not null,
      -- What the latest cause said, e.g. the last error.
      reason text,
      opened_at timestamptz not null,
      closed_at timestamptz
    )`.execute(db)
  await sql`
    create unique index incidents_open on incidents (kind, subject_id) where closed_at is null`.execute(db)
  await sql`create index incidents_closed on incidents (closed_at) where closed_at is not null`.execute(db)

  // The outbox: rows are written in the transaction that causes the alert; jobs fan them out and send them.
  await sql`
    create table alerts (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      event_kind text not null,
      severity text not null,
      -- open, closed or single.
      status text not null,
      incident_id uuid,
      subject_type text not null,
      subject_id uuid not null,
      subject_name text not null,
      endpoint_id uuid,
      endpoint_name text,
      request_id bigint,
      -- Of an alert that opens an incident: see the incident, it runs on.
      count integer not null,
      reason text,
      opened_at timestamptz,
      closed_at timestamptz,
      occurred_at timestamptz not null,
      -- The attempt row that a notify alert reports back to.
      attempt_id bigint,
      -- JSON text: contacts named by a watchdog.
      contact_ids text not null default '[]',
      -- Null until its deliveries are written.
      fanned_out_at timestamptz
    )`.execute(db)
  await sql`create index alerts_waiting on alerts (occurred_at) where fanned_out_at is null`.execute(db)
  await sql`create index alerts_by_age on alerts (occurred_at)`.execute(db)
  await sql`create index alerts_by_incident on alerts (incident_id) where incident_id is not null`.execute(db)

  // One row for each alert and destination. The table is both the work list and the history.
  await sql`
    create table alert_deliveries (
      id bigint generated always as identity primary key,
      alert_id uuid not null references alerts on delete cascade,
      workspace_id uuid not null,
      -- Of the latest try.
      at timestamptz not null,
      -- Null for plain mail.
      channel_id uuid,
      channel_name text,
      channel_kind text not null,
      -- The address of a mail.
      recipient text,
      -- Null before the first try has ended; then delivered, failed, muted or suppressed.
      outcome text,
      detail text,
      status_code integer,
      duration_ms integer,
      email_fallback boolean not null default false,
      try_count integer not null default 0,
      tries_max integer not null,
      -- When the next try is due; while one is under way, when it counts as lost. Null when none follows.
      next_try_at timestamptz
    )`.execute(db)
  await sql`
    create unique index alert_deliveries_channel_once on alert_deliveries (alert_id, channel_id)
    where recipient is null`.execute(db)
  await sql`
    create unique index alert_deliveries_mail_once on alert_deliveries (alert_id, recipient)
    where recipient is not null`.execute(db)
  await sql`create index alert_deliveries_by_workspace on alert_deliveries (workspace_id, id)`.execute(db)
  await sql`
    create index alert_deliveries_due on alert_deliveries (next_try_at) where next_try_at is not null`.execute(
    db,
  )
}
