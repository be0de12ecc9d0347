import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table endpoints (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      name text not null,
      is_active boolean not null,
      suspended_by_plan boolean not null default false,
      created_at timestamptz not null,
      expires_at timestamptz,
      -- Set by DELETE: gone for everybody at once; its rows go in the background.
      deleted_at timestamptz,
      response_status_code integer not null,
      response_content_type text not null,
      -- JSON text, not jsonb: the order of names is what the user wrote.
      response_headers text not null,
      response_body text not null,
      provider text,
      signing_secret bytea,
      signing_secret_set_at timestamptz,
      handshake_token bytea,
      signature_header text,
      signature_algorithm text,
      signature_encoding text,
      signature_prefix text
    )`.execute(db)
  await sql`
    create index endpoints_by_workspace on endpoints (workspace_id, created_at desc, id desc)
    where deleted_at is null`.execute(db)
  await sql`create index endpoints_expiring on endpoints (expires_at) where expires_at is not null`.execute(
    db,
  )
  await sql`create index endpoints_deleted on endpoints (deleted_at) where deleted_at is not null`.execute(db)

  // One narrow, hot row an endpoint, separate from its settings. Every capture, deletion and restore locks it, so that
  // ids are allocated in commit order and the counts always equal the rows.
  await sql`
    create table endpoint_counters (
      endpoint_id uuid primary key references endpoints on delete cascade,
      stored_request_count integer not null default 0,
      stored_bytes bigint not null default 0,
      binned_request_count integer not null default 0,
      evicted_count bigint not null default 0,
      rejected_count bigint not null default 0,
      last_rejected_at timestamptz,
      last_request_at timestamptz,
      -- The capture-rate window that is running.
      window_started_at timestamptz,
      window_count integer not null default 0,
      -- No stored request has a lower id: where eviction starts to look.
      oldest_request_id bigint not null default 0,
      -- When capture.rejected was last raised, and how many rejections came since.
      rejection_alerted_at timestamptz,
      rejected_since_alert integer not null default 0
    ) with (fillfactor = 40)`.execute(db)

  // Counts the changes to everything that decides how a capture on the endpoint is evaluated and answered: its
  // settings, its actions, its watchdogs, its workspace's plan. A gateway caches the settings of a revision, and the
  // capture statement stores nothing that was evaluated under an older one. Triggers count, so that no writer can
  // forget it. They are deferred to the commit, and lock rows that nothing else locks, so that they never deadlock.
  await sql`
    create table endpoint_revisions (
      endpoint_id uuid primary key references endpoints on delete cascade,
      revision integer not null
    ) with (fillfactor = 40)`.execute(db)
  await sql`
    create function start_endpoint_revisions() returns trigger language plpgsql as $$
    begin
      insert into endpoint_revisions (endpoint_id, revision) values (new.id, 1);
      return null;
    end $$`.execute(db)
  await sql`
    create trigger start_revisions after insert on endpoints
    for each row execute function start_endpoint_revisions()`.execute(db)
  // The argument names the column of the changed row that holds the endpoint's id.
  await sql`
    create function count_endpoint_revision() returns trigger language plpgsql as $$
    begin
      update endpoint_revisions set revision = revision + 1
      where endpoint_id = (to_jsonb(coalesce(new, old)) ->> tg_argv[0])::uuid;
      return null;
    end $$`.execute(db)
  await sql`
    create constraint trigger count_revision after update on endpoints deferrable initially deferred
    for each row execute function count_endpoint_revision('id')`.execute(db)
  await sql`
    create function count_workspace_revisions() returns trigger language plpgsql as $$
    begin
      update endpoint_revisions set revision = revision + 1
      where endpoint_id in (select id from endpoints where workspace_id = new.id);
      return null;
    end $$`.execute(db)
  await sql`
    create constraint trigger count_revisions after update of plan on workspaces deferrable initially deferred
    for each row when (new.plan <> old.plan) execute function count_workspace_revisions()`.execute(db)
}
