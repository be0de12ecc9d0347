import { type Kysely, sql } from 'kysely'

/** The audit log: each change with its actor, time and address. Rows are only added, and swept when they are old. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
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
    )`.execute(db)
  await sql`create index audit_entries_by_workspace on audit_entries (workspace_id, id)`.execute(db)
  await sql`create index audit_entries_by_time on audit_entries (at)`.execute(db)

  // Protects against mistakes and against a stolen connection of the service. Only the sweep sets the permitting
  // variable.
  await sql`
    create function refuse_audit_change() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' and current_setting('creel.audit_sweep', true) = 'on' then return null; end if;
      raise exception 'audit_entries is append-only' using errcode = 'restrict_violation';
    end $$`.execute(db)
  await sql`
    create trigger audit_entries_are_append_only before update or delete or truncate on audit_entries
    for each statement execute function refuse_audit_change()`.execute(db)
}
