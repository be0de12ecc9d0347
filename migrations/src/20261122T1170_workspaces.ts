import { type Kysely, sql } from 'kysely'

/** Moves of workspaces to other cells, their keys, the audit log and erasures. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- Until then the workspace takes neither captures nor calls, and begins no attempts: it is about to be in another cell.
    alter table workspaces add column sealed_until timestamptz;

    create table workspace_moves (
      id uuid primary key,
      -- No reference: the row outlives the workspace here, and says where it went.
      workspace_id uuid not null,
      workspace_name text not null,
      to_cell text not null,
      state text not null check (state in ('copying', 'switching', 'moved', 'purged', 'aborted')),
      -- JSON: the endpoints whose rows are copied, and where the first pass continues.
      progress text not null,
      copied_rows bigint not null default 0,
      started_at timestamptz not null,
      changed_at timestamptz not null,
      sealed_ms integer
    );
    create unique index workspace_moves_under_way on workspace_moves (workspace_id)
    where state in ('copying', 'switching');

    create table workspace_keys (
      id uuid primary key,
      workspace_id uuid not null unique references workspaces on delete cascade,
      -- Sealed with the key of the installation.
      hash_key bytea not null,
      created_at timestamptz not null
    );

    create table audit_entries (
      id bigint generated always as identity primary key,
      -- Null: about the installation. No foreign key: the log outlives what it tells of.
      workspace_id uuid,
      at timestamptz not null,
      actor_kind text not null check (actor_kind in ('key', 'session', 'operator', 'service')),
      -- Of the key or the session.
      actor_id uuid,
      actor_name text not null,
      address text,
      trace_id text,
      action text not null,
      subject_type text not null,
      subject_id text not null,
      subject_name text,
      endpoint_id uuid,
      -- The members that changed, as JSON; null before a creation, and after a deletion.
      before text,
      after text
    );
    create index audit_entries_by_workspace on audit_entries (workspace_id, id);
    create index audit_entries_by_time on audit_entries (at);

    -- Protects against mistakes and against a stolen connection of the service. Only the sweep sets the permitting
    -- variable.
    create function refuse_audit_change() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' and current_setting('creel.audit_sweep', true) = 'on' then return null; end if;
      raise exception 'audit_entries is append-only' using errcode = 'restrict_violation';
    end $$;
    create trigger audit_entries_are_append_only before update or delete or truncate on audit_entries
    for each statement execute function refuse_audit_change();

    create table erasures (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      -- Sealed, and null once the job has ended: the value must not outlive it.
      value bytea,
      value_hash text not null,
      -- JSON: the paths that are compared; [] for everything.
      paths text not null,
      mode text not null check (mode in ('delete', 'redact')),
      dry_run boolean not null,
      state text not null check (state in ('queued', 'running', 'done', 'failed')),
      -- JSON: counts, and where the job continues.
      progress text not null,
      due_at timestamptz not null,
      created_at timestamptz not null,
      finished_at timestamptz
    );
    create index erasures_of_workspace on erasures (workspace_id, created_at desc, id desc);
    create index erasures_due on erasures (due_at) where finished_at is null`.execute(db)
}
