import { type Kysely, sql } from 'kysely'

/** Alerts are sent by lanes: a channel, or the mails of a workspace. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index incidents_by_workspace on incidents (workspace_id, opened_at desc, id desc);

    alter table alert_deliveries
      -- The channel, or the workspace for mails.
      add column lane_id uuid,
      -- 0 for alarms, which go first; 1 for messages of notify actions.
      add column priority integer not null default 0,
      -- While an attempt is under way: when it counts as lost.
      add column leased_until timestamptz;
    update alert_deliveries set lane_id = coalesce(case when recipient is null then channel_id end, workspace_id);
    alter table alert_deliveries alter column lane_id set not null;
    create index alert_deliveries_lane on alert_deliveries (lane_id, priority, next_attempt_at)
    where next_attempt_at is not null;
    create index alert_deliveries_leased on alert_deliveries (lane_id) where leased_until is not null`.execute(
    db,
  )
}
