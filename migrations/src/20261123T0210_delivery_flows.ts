import { type Kysely, sql } from 'kysely'

/**
 * Deliveries of governed actions wait as rows, and not as jobs. An action is governed while it is paused or drained, or while its
 * policy bounds how its deliveries start. All indexes are partial: deliveries of other actions are in none of them.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table actions add column drain_per_second integer`.execute(db)
  await sql`
    alter table actions add column governed boolean not null generated always as (
      paused_at is not null or drain_per_second is not null or coalesce(
        delivery_policy::jsonb ?| array['concurrency', 'rate', 'order', 'breaker', 'backlogAlertSeconds'], false)
    ) stored`.execute(db)

  await sql`
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
    )`.execute(db)
  await sql`
    create function start_action_flow() returns trigger language plpgsql as $$
    begin
      insert into action_flows (action_id) values (new.id) on conflict do nothing;
      return null;
    end $$`.execute(db)
  await sql`
    create trigger start_flow after insert or update on actions
    for each row when (new.governed) execute function start_action_flow()`.execute(db)

  await sql`
    alter table deliveries
      -- Null while its attempts have jobs. Else waiting, sending, or behind another of its key; held is a dead letter that stops its key.
      add column flow_state text,
      -- When the next attempt of a waiting one is due.
      add column flow_due_at timestamptz,
      -- Deliveries of one key go out one after the other.
      add column order_key text,
      -- The delivery of the same key that must end first.
      add column behind_id bigint`.execute(db)
  await sql`
    create index deliveries_waiting on deliveries (action_id, flow_due_at, id)
    where flow_state = 'waiting'`.execute(db)
  await sql`
    create index deliveries_by_flow_state on deliveries (action_id, flow_state, id)
    where flow_state is not null`.execute(db)
  await sql`
    create index deliveries_by_key on deliveries (action_id, order_key, id)
    where flow_state is not null and order_key is not null`.execute(db)
  await sql`
    create index deliveries_behind on deliveries (behind_id) where behind_id is not null`.execute(db)

  // The next delivery of a key is free when the one before it goes, whichever way that happens.
  await sql`
    create function free_next_delivery() returns trigger language plpgsql as $$
    begin
      update deliveries set flow_state = 'waiting', behind_id = null
      where behind_id = old.id and flow_state = 'behind';
      return null;
    end $$`.execute(db)
  await sql`
    create trigger free_next_on_delete after delete on deliveries
    for each row when (old.order_key is not null and old.flow_state is not null)
    execute function free_next_delivery()`.execute(db)
  await sql`
    create trigger free_next_on_end after update of flow_state on deliveries
    for each row when (old.order_key is not null and old.flow_state is not null and new.flow_state is null)
    execute function free_next_delivery()`.execute(db)
}
