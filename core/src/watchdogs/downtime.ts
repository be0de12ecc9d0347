import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Services } from '../api/services.ts'
import { type Db, run, statement } from '../platform/db/index.ts'
import { atIntervals } from '../platform/time/index.ts'
import { CREDITED_DOWNTIME_SECONDS } from './rules.ts'

/** Interval of the heartbeat of a gateway that can take captures. */
const HEARTBEAT_SECONDS = 10

/** No watchdog's window is longer than 62 days, so older outages are irrelevant. */
const OUTAGES_KEPT_DAYS = 70

const SILENCE = statement(
  'silence of gateways',
  `select extract(epoch from now() - max(beat_at))::float8 as silent_seconds
  from gateway_heartbeats`,
  { isPrepared: false },
)

/**
 * Records a heartbeat of this gateway. If no gateway sent one for over a minute, records an outage, which watchdogs are
 * credited with. Uses the database's clock, so that all gateways share one clock.
 *
 * Jumps of that clock are handled. A jump forwards looks like an outage. After a jump backwards, times in the future
 * are set to now, so that no watchdog sleeps until then.
 */
async function beat(db: Db, gatewayId: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtext('creel gateway heartbeats'))`.execute(trx)
    const rows = await run(trx, SILENCE, [])
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
      // Stored deadlines serve only the index. Setting them to now makes the next check compute each one again.
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

const IS_UP = statement(
  'is a gateway up',
  `select exists (
    select from gateway_heartbeats
    where beat_at > now() - make_interval(secs => ${CREDITED_DOWNTIME_SECONDS})
  ) as is_up`,
  { isPrepared: false },
)

/** Whether a gateway has sent a heartbeat within the last minute. */
export async function gatewayIsUp(db: Db): Promise<boolean> {
  const rows = await run(db, IS_UP, [])
  return rows[0]?.isUp ?? false
}

/** Names this process as a gateway, the same in every cell: so a move knows that one does not serve its target. */
const GATEWAY_ID = randomUUID()

/**
 * Records every few seconds that this gateway can take captures, until it is stopped; the first time before it
 * resolves. Watchdogs count the gaps between heartbeats as downtime of the service. A failed heartbeat counts as not
 * sent: without the database, captures fail as well.
 */
export async function startHeartbeat({
  db,
  log,
}: Pick<Services, 'db' | 'log'>): Promise<{ stop(): Promise<void> }> {
  const sendBeat = () =>
    beat(db, GATEWAY_ID).catch((err: unknown) =>
      log.warn({ err }, 'no heartbeat: the database did not accept it'),
    )
  await sendBeat()
  const beats = atIntervals(HEARTBEAT_SECONDS * 1000, sendBeat)
  return { stop: async () => beats.stop() }
}
