import { type Kysely, sql } from 'kysely'

/** The terms of an action towards its destination, its flow, and its failures. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table actions
      -- Whether a forward appends the captured path suffix, and the captured query, to the URL of its action.
      add column append_path boolean not null default false,
      add column append_query boolean not null default false,
      add column delivery_policy text,
      add column auth_settings text,
      add column auth_secrets bytea,
      add column auth_set_at timestamptz,
      add column tls_certificates text,
      add column tls_client_key bytea,
      add column tls_set_at timestamptz,
      add column signing_scheme text not null default 'creel',
      add column paused_at timestamptz,
      add column drain_per_second integer,
      -- Whether order keys are digests for the sake of deliveries that wait, although no rule hides the keys any more.
      add column keeps_key_digests boolean not null default false;

    -- Whether it is paused or drained, or its policy bounds how deliveries start.
    alter table actions add column governed boolean not null generated always as (
      paused_at is not null or drain_per_second is not null or coalesce(
        delivery_policy::jsonb ?| array['concurrency', 'rate', 'order', 'breaker', 'backlogAlertSeconds'], false)
    ) stored;

    create table action_flows (
      action_id uuid primary key references actions on delete cascade,
      -- The first time at which the pace allows another start.
      next_start_at timestamptz,
      -- A receiver asked that nothing starts before.
      not_before timestamptz,
      -- closed, open or probing.
      breaker text not null default 'closed',
      -- The failures within the breaker's window, oldest first.
      failures timestamptz[] not null default '{}',
      opened_at timestamptz,
      next_probe_at timestamptz,
      closed_at timestamptz
    );

    create function start_action_flow() returns trigger language plpgsql as $$
    begin
      insert into action_flows (action_id) values (new.id) on conflict do nothing;
      return null;
    end $$;
    create trigger start_flow after insert on actions
    for each row execute function start_action_flow();
    insert into action_flows (action_id) select id from actions;

    create table failing_actions (
      action_id uuid primary key,
      workspace_id uuid not null,
      -- The first failure after the last success.
      since timestamptz not null,
      attempts integer not null,
      -- Request and error of the newest failure.
      request_id bigint not null,
      error text
    )`.execute(db)
}
