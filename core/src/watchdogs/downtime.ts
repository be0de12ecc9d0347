import { sql } from 'kysely'
import type { Db } from '../platform/db/index.ts'
import { CREDITED_DOWNTIME_SECONDS } from './rules.ts'

/** How often a gateway that can take captures says so. */
export const HEARTBEAT_SECONDS = 10

/** No watchdog's window is longer than 62 days, so no older outage can matter. */
const OUTAGES_KEPT_DAYS = 70

/**
 * Says that this gateway takes captures, and notes it as an outage when none did for over a minute: the downtime
 * that watchdogs are credited with. By the database's clock, so that it is one clock for all.
 *
 * Jumps of that clock are survived: forwards they look like an outage; backwards, whatever lies in the future is
 * drawn back to now, so that no watchdog sleeps until then.
 */
export async function beat(db: Db, gatewayId: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtext('creel gateway heartbeats'))`.execute(trx)
    const { rows } = await sql<{ silentSeconds: number | null }>`
      select extract(epoch from now() - max(beat_at))::float8 as silent_seconds
      from gateway_heartbeats`.execute(trx)
    const silentSeconds = rows[0]?.silentSeconds ?? 0
    if (silentSeconds > CREDITED_DOWNTIME_SECONDS) {
      await sql`
        insert into gateway_outages (began_at, ended_at)
        select max(beat_at), now() from gateway_heartbeats
        on conflict (began_at) do update set ended_at = excluded.ended_at`.execute(trx)
    }
    if (silentSeconds < -CREDITED_DOWNTIME_SECONDS) {
      await sql`update watchdogs set baseline_at = now() where baseline_at > now()`.execute(trx)
      await sql`update watchdog_criteria set last_matched_at = now() where last_matched_at > now()`.execute(
        trx,
      )
      await sql`delete from gateway_outages where ended_at > now()`.execute(trx)
      await sql`delete from gateway_heartbeats where beat_at > now()`.execute(trx)
      // Deadlines are kept for the index only: look at every one of them anew.
      await sql`update watchdogs set alarm_at = now() where alarm_at is not null and phase <> 'alarmed'`.execute(
        trx,
      )
    }
    await sql`
      insert into gateway_heartbeats (gateway_id, beat_at) values (${gatewayId}, now())
      on conflict (gateway_id) do update set beat_at = excluded.beat_at`.execute(trx)
    await sql`delete from gateway_heartbeats where beat_at < now() - interval '1 day'`.execute(trx)
    await sql`delete from gateway_outages where ended_at < now() - make_interval(days => ${OUTAGES_KEPT_DAYS})`.execute(
      trx,
    )
  })
}

/** Whether some gateway said within a minute that it takes captures. */
export async function gatewayIsUp(db: Db): Promise<boolean> {
  const { rows } = await sql<{ isUp: boolean }>`
    select exists (
      select from gateway_heartbeats
      where beat_at > now() - make_interval(secs => ${CREDITED_DOWNTIME_SECONDS})
    ) as is_up`.execute(db)
  return rows[0]?.isUp ?? false
}
