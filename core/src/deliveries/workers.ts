import { sql } from 'kysely'
import type { Services } from '../api/services.ts'
import type { Db } from '../platform/db/index.ts'

/** How often a process that makes attempts says that it lives. */
const BEAT_SECONDS = 2
/** A process that said nothing for so long is dead: its attempts end as Interrupted without waiting for their lease. */
const SILENT_SECONDS = 10
/** A gap in a process's own beats that means: the database was away, or the process stood still. */
const GAP_SECONDS = 5
/**
 * How long a process must have been beating without a gap before it calls others dead. After an outage of the database
 * everybody was silent, and has this time to be heard again.
 */
const STEADY_SECONDS = 6

/** This process, among those that make attempts. */
export interface DeliveryWorker {
  /** What its attempts are marked with; never used twice. */
  readonly id: number
  /** Stops beating and gives up what is still under way, so that it is tried again at once. Never rejects. */
  leave(): Promise<void>
}

/** Enters this process among those that make attempts, and says that it lives until it leaves, by the database's clock. */
export async function joinDeliveryWorkers({
  db,
  log,
}: Pick<Services, 'db' | 'log'>): Promise<DeliveryWorker> {
  const { id } = await db
    .insertInto('deliveryWorkers')
    .defaultValues()
    .returning('id')
    .executeTakeFirstOrThrow()
  let isBeating = false
  const timer = setInterval(() => {
    if (isBeating) return
    isBeating = true
    beatDeliveryWorker(db, id)
      .catch((err: unknown) => log.debug({ err }, 'no sign of life: the database did not take it'))
      .finally(() => {
        isBeating = false
      })
  }, BEAT_SECONDS * 1000)
  return {
    id,
    async leave() {
      clearInterval(timer)
      await giveUpAttempts(db, sql`delete from delivery_workers where id = ${id} returning id`).catch(
        (err: unknown) => log.debug({ err }, 'could not leave: others will notice the silence'),
      )
    },
  }
}

/** Says that a process lives. One that was given up for dead meanwhile is entered again. */
export async function beatDeliveryWorker(db: Db, id: number): Promise<void> {
  await sql`
    insert into delivery_workers as w (id) values (${id})
    on conflict (id) do update set
      beat_at = now(),
      steady_since = case when w.beat_at < now() - make_interval(secs => ${GAP_SECONDS})
        then now() else w.steady_since end`.execute(db)
}

/**
 * Ends the leases of attempts whose process is dead, and forgets that process. Does nothing while the asking process has
 * not been heard steadily itself.
 *
 * @param id the asking process
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

/** @param gone deletes workers and returns their ids */
async function giveUpAttempts(db: Db, gone: ReturnType<typeof sql>): Promise<void> {
  await sql`
    with gone as (${gone})
    update delivery_attempts a set lease_until = 'epoch'
    from gone
    where a.worker_id = gone.id and a.state = 'Pending' and a.lease_until > 'epoch'`.execute(db)
}
