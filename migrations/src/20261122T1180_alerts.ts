import { type Kysely, sql } from 'kysely'

/** Alerts are sent by lanes: a channel, or the mails of a workspace. Channels get alerts about destinations that fail. */
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

  // Channels of all seven events of 0.1.0 with one severity get the events of later versions, too: the column holds the
  // severity. Channels that get dead letters get failing destinations with the same severity.
  await sql`
    update alert_channels c set events = case
        when r.kinds = 7 and r.lowest = r.highest then to_jsonb(r.lowest)::text
        else (c.events::jsonb || jsonb_build_array(
          jsonb_build_object('kind', 'delivery.failing', 'minSeverity', r.of_dead_letters),
          jsonb_build_object('kind', 'delivery.working', 'minSeverity', r.of_dead_letters)))::text
      end
    from (
      select id, count(*) as kinds, min("minSeverity") as lowest, max("minSeverity") as highest,
        min("minSeverity") filter (where of.kind = 'delivery.parked') as of_dead_letters
      from alert_channels
      cross join lateral jsonb_to_recordset(events::jsonb) as of (kind text, "minSeverity" text)
      group by id) as r
    where r.id = c.id and r.of_dead_letters is not null`.execute(db)
}
