import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table actions (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      endpoint_id uuid not null references endpoints on delete cascade,
      kind text not null,
      name text not null,
      position integer not null,
      is_active boolean not null,
      suspended_by_plan boolean not null default false,
      -- When it was last switched off or suspended: queued deliveries are dropped 24 h later.
      off_since timestamptz,
      -- JSON text as the user wrote it; '{}' = always.
      condition text not null,
      url text,
      signing_secret bytea,
      signing_secret_set_at timestamptz,
      previous_signing_secret bytea,
      previous_signing_secret_until timestamptz,
      -- No foreign key: a deleted channel leaves the action with channelUnavailable.
      alert_channel_id uuid,
      message_template text,
      created_at timestamptz not null,
      unique (endpoint_id, position) deferrable initially deferred
    )`.execute(db)
  await sql`create index actions_by_workspace on actions (workspace_id)`.execute(db)
  await sql`
    create constraint trigger count_revision after insert or update or delete on actions
    deferrable initially deferred
    for each row execute function count_endpoint_revision('endpoint_id')`.execute(db)

  // Open deliveries and dead letters: one run of a (request, action) pair, by a capture or a bulk replay. The row is
  // deleted when the run ends, unless it is a dead letter; its attempts stay in delivery_attempts.
  await sql`
    create table deliveries (
      id bigint generated always as identity primary key,
      workspace_id uuid not null,
      endpoint_id uuid not null,
      request_id bigint not null,
      action_id uuid not null,
      action_name text not null,
      kind text not null,
      trigger text not null,
      -- Tries that have ended.
      attempt_count integer not null default 0,
      -- When the next try is due.
      next_attempt_at timestamptz not null,
      created_at timestamptz not null,
      -- Null while a try is queued or under way; else the run is parked.
      finished_at timestamptz,
      parked_at timestamptz
    ) with (fillfactor = 80)`.execute(db)
  await sql`create index deliveries_by_request on deliveries (endpoint_id, request_id)`.execute(db)
  await sql`create index deliveries_by_action on deliveries (action_id) where finished_at is null`.execute(db)

  await sql`
    create table delivery_attempts (
      endpoint_id uuid not null,
      id bigint generated always as identity,
      -- Null for an inline replay, which is one try and no run.
      delivery_id bigint,
      workspace_id uuid not null,
      request_id bigint not null,
      -- Stays when the action is deleted: readers join it away.
      action_id uuid not null,
      action_name text not null,
      kind text not null,
      state text not null,
      attempt_number integer not null,
      trigger text not null,
      status_code integer,
      error text,
      url text not null,
      at timestamptz not null,
      finished_at timestamptz,
      duration_ms integer,
      next_attempt_at timestamptz,
      -- The end of the visibility window; null for notify, whose sends belong to the outbox.
      lease_until timestamptz,
      transformed boolean not null default false,
      transformation_version integer,
      transform_note text,
      primary key (endpoint_id, id)
    ) with (fillfactor = 90)`.execute(db)
  await sql`
    create index delivery_attempts_by_request on delivery_attempts (endpoint_id, request_id, id)`.execute(db)
  // Unique, so that only one of two workers that claim the same attempt inserts a row.
  await sql`
    create unique index delivery_attempts_by_delivery on delivery_attempts (delivery_id, attempt_number)
    where delivery_id is not null`.execute(db)
  await sql`
    create index delivery_attempts_pending on delivery_attempts (lease_until) where state = 'Pending'`.execute(
    db,
  )

  // Messages that were sent and received, separate from the row: kept as long as the request, never read by lists.
  await sql`
    create table attempt_details (
      endpoint_id uuid not null,
      attempt_id bigint not null,
      request_id bigint not null,
      sent_method text not null,
      sent_url text not null,
      -- JSON text: [[name, value], …] in wire order, values as latin1 byte strings.
      sent_headers text not null,
      -- Null when the captured body was sent as it is.
      sent_body bytea,
      sent_body_truncated boolean not null,
      -- Null when nothing came back.
      received_status_code integer,
      received_headers text,
      received_body bytea,
      received_body_truncated boolean,
      primary key (endpoint_id, attempt_id)
    )`.execute(db)
  await sql`create index attempt_details_by_request on attempt_details (endpoint_id, request_id)`.execute(db)
}
