import { sql } from 'kysely'
import type { Services } from '../api/services.ts'
import type { Db, Trx } from '../platform/db/index.ts'
import { atIntervals } from '../platform/time/index.ts'
import { TIMEOUT_SECONDS } from './attempt.ts'

/** Interval of the heartbeats of a process that makes attempts. */
const BEAT_SECONDS = 2
/** Without a heartbeat for this long a process counts as dead. Its attempts are Interrupted before their leases end. */
const SILENT_SECONDS = 10
/** A gap between a process's own heartbeats that shows an outage: of the database, or of the process itself. */
const GAP_SECONDS = 5
/**
 * Time without a gap in its own heartbeats before a process may call others dead. After an outage of the database all
 * processes were silent, and need this time to send a heartbeat.
 */
const STEADY_SECONDS = 6

/**
 * Registers this process as one that makes attempts.
 *
 * @returns its id, which is stored with its attempts and never reused
 */
export async function registerDeliveryWorker(db: Db): Promise<number> {
  const { id } = await db
    .insertInto('deliveryWorkers')
    .defaultValues()
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/**
 * Sends heartbeats of this process, timed by the database's clock, until stopped. Then it ends the leases of attempts
 * in flight, so that they are retried at once. Stopping never rejects.
 */
export function startPresence({ db, log, workerId }: Pick<Services, 'db' | 'log' | 'workerId'>): {
  stop(): Promise<void>
} {
  if (workerId === null) return { stop: () => Promise.resolve() }
  const beats = atIntervals(BEAT_SECONDS * 1000, () =>
    beatDeliveryWorker(db, workerId).catch((err: unknown) =>
      log.debug({ err }, 'no heartbeat: the database did not accept it'),
    ),
  )
  return {
    async stop() {
      beats.stop()
      const leaving = sql`delete from delivery_workers where id = ${workerId} returning id`
      await giveUpAttempts(db, leaving).catch((err: unknown) =>
        log.debug({ err }, 'could not sign off: other processes will notice the missing heartbeat'),
      )
    },
  }
}

/** Writes a heartbeat of a process. Registers it again if it was taken for dead in the meantime. */
export async function beatDeliveryWorker(db: Db, id: number): Promise<void> {
  await sql`
    insert into delivery_workers as w (id) values (${id})
    on conflict (id) do update set
      beat_at = now(),
      steady_since = case when w.beat_at < now() - make_interval(secs => ${GAP_SECONDS})
        then now() else w.steady_since end`.execute(db)
}

/**
 * Ends the leases of attempts whose process is dead, and removes that process. A no-op while the calling process has no
 * steady heartbeat itself.
 *
 * @param id worker id of the calling process
 */
export async function giveUpDeadWorkers(db: Db, id: number): Promise<void> {
  await giveUpAttempts(
    db,
    sql`
      delete from delivery_workers w
      where w.beat_at < now() - make_interval(secs => ${SILENT_SECONDS})
        and exists (
          select from delivery_workers me
          where me.id = ${id} and me.beat_at > now() - make_interval(secs => ${GAP_SECONDS})
            and me.steady_since < now() - make_interval(secs => ${STEADY_SECONDS}))
      returning w.id`,
  )
}

/**
 * Shortens the leases of attempts that were under way when their workspace left its former cell, to one timeout from
 * now: the former cell may still send, but its result is not recorded here. Their worker is one of that cell, not of this.
 */
export async function shortenLeases(trx: Trx, workspaceId: string, now: Date): Promise<void> {
  await sql`
    update delivery_attempts t set worker_id = null, lease_until = least(t.lease_until, ${now}::timestamptz
      + interval '1 second' * coalesce((
        select (a.delivery_policy::json ->> 'timeoutSeconds')::int from actions a where a.id = t.action_id), ${TIMEOUT_SECONDS}))
    where t.state = 'Pending' and t.lease_until is not null and t.workspace_id = ${workspaceId}`.execute(trx)
}

/** @param gone statement that deletes workers and returns their ids */
async function giveUpAttempts(db: Db, gone: ReturnType<typeof sql>): Promise<void> {
  await sql`
    with gone as (${gone})
    update delivery_attempts a set lease_until = 'epoch'
    from gone
    where a.worker_id = gone.id and a.state = 'Pending' and a.lease_until > 'epoch'`.execute(db)
}
