import {
  QUEUE_WORK,
  QUEUES,
  type Queue,
  type QueueWork,
  type RunningSends,
  type Services,
  startLoops,
  startSends,
} from '@creel/core'
import { type FirstAttempts, NO_FIRST_ATTEMPTS, startsFollowClock } from '@creel/core/deliveries'
import { dividedLimits, Slots } from '@creel/core/dispatch'
import { isDeadlock } from '@creel/core/platform/db'
import { restFor, within } from '@creel/core/platform/time'
import { Turns } from '@creel/core/platform/turns'
import type { Job as BossJob, JobResult, PgBoss } from 'pg-boss'

/**
 * Options of all other queues: a few jobs at a time, each settled on its own. New jobs are announced. A backlog is
 * worked off without a pause, which pg-boss does for batches only. Jobs that become due later are found by polling.
 */
const TAKE = {
  batchSize: 8,
  burstWhenBatchFull: true,
  perJobResults: true,
  notifyPollingIntervalSeconds: 2,
} as const

/**
 * Interval of polling where announcements suffice, in case that one is lost: queues whose jobs are all due when they are
 * added, and all batches of a queue but the first.
 */
const SELDOM_SECONDS = 15

/** Longest wait of a scheduled run for the end of the one before, which may take an hour. */
const NEXT_START_MS = 1000

/** Delay before another try to queue the next run of a chain. */
const CHAIN_RETRY_MS = 1000

/** Interval of looking whether the clock of the database was set back. */
const CLOCK_LOOK_MS = 10_000

/** Nothing is sent: first attempts wait in their lanes like the others. */
const NO_SENDS: RunningSends = { lanes: [], firstAttempts: NO_FIRST_ATTEMPTS }

/** The workers of this process. */
export interface RunningWorkers {
  /** Makes first attempts of requests that this process captures. */
  readonly firstAttempts: FirstAttempts
  /** Takes no further attempts, waits for those in flight and records them; at most `timeoutMs`. */
  stop(timeoutMs: number): Promise<void>
}

/**
 * Takes jobs of every queue until stopped; runs the clock-driven ones now and keeps them scheduled.
 *
 * @param options `dispatches`: false leaves the jobs of deliveries and alerts in their queues, so that nothing is sent;
 *   `processes` of the program that divide the attempts at once, 1 by default
 */
export async function startWorkers(
  boss: PgBoss,
  services: Services,
  { dispatches = true, processes = 1 }: { readonly dispatches?: boolean; readonly processes?: number } = {},
): Promise<RunningWorkers> {
  const slots = new Slots(dividedLimits(processes))
  const { lanes, firstAttempts } = dispatches ? startSends(services, slots) : NO_SENDS
  const stopping = new AbortController()
  const loops = await startLoops(services, 'jobs', { calls: dispatches })
  const isWorked = ({ calls = false }: Queue) => dispatches || !calls
  const laneWork = lanes.map(({ queue, run }) => ({ queue, run: (_: Services, job: unknown) => run(job) }))
  const worked = [...laneWork, ...QUEUE_WORK.filter(({ queue }) => isWorked(queue))]
  await followClock(boss, services, stopping.signal)
  const starts = oneAfterAnother()
  for (const work of worked) await startWorker(boss, services, work, { starts, stopping: stopping.signal })
  await Promise.all([schedule(boss, QUEUES.filter(isWorked)), runNow(boss, QUEUES.filter(isWorked))])
  return {
    firstAttempts,
    async stop(timeoutMs) {
      stopping.abort()
      // Stops the queues itself: pg-boss's graceful stop checks only every half second whether jobs have ended.
      const others = Promise.all(worked.map(({ queue }) => boss.offWork(queue.name)))
      const parts = [...lanes, loops].map((one) => one.stop(timeoutMs))
      await Promise.all([...parts, within(others, timeoutMs)])
    },
  }
}

/**
 * Queues of former versions. The schedules of these only are ended: one with another name may be of a newer version, with
 * which this one runs during an upgrade.
 */
const FORMER = [
  'alerts.send',
  'deliveries.attempt',
  'deliveries.flows',
  'deliveries.recover',
  'reconcile.start',
  'replays.run',
  'replays.start',
]

/**
 * Follows the clock of the database if it was set back. pg-boss would take no step of its schedules until the time is
 * reached again, and jobs that were queued before would wait as long: among them the next run of each chain. Jobs keep
 * their delay. Runs of the repeated minutes are forgotten, since a minute has one.
 *
 * The mark of the schedules tells it: it is set twice a minute, and is never ahead otherwise. Its lead, which is returned,
 * is a little less than the time by which the clock was set back.
 */
const FOLLOW_CLOCK = `
  with ahead as (
    select version, extract(epoch from cron_on - pgboss.job_now())::float8 as seconds from pgboss.version
    where cron_on > pgboss.job_now() + interval '5 s' for update
  ), stepped as (
    update pgboss.version v set cron_on = pgboss.job_now(), bam_on = least(v.bam_on, pgboss.job_now()),
      flow_on = least(v.flow_on, pgboss.job_now()), reindex_on = least(v.reindex_on, pgboss.job_now())
    from ahead where v.version = ahead.version
    returning ahead.seconds
  ), queues as (
    update pgboss.queue q set monitor_claim_on = least(q.monitor_claim_on, pgboss.job_now()),
      monitor_on = least(q.monitor_on, pgboss.job_now()), maintain_on = least(q.maintain_on, pgboss.job_now())
    from stepped
  ), waiting as (
    update pgboss.job j set created_on = pgboss.job_now(), start_after = j.start_after - (j.created_on - pgboss.job_now())
    from stepped where j.state < 'active' and j.created_on > pgboss.job_now()
  ), sent as (
    delete from pgboss.job j using stepped
    where j.name = '__pgboss__send-it' and j.state > 'active' and j.created_on > pgboss.job_now()
  )
  select seconds from stepped`

/** Follows the clock of the database now, and until stopped. */
async function followClock(
  boss: PgBoss,
  { db, log }: Pick<Services, 'db' | 'log'>,
  stopping: AbortSignal,
): Promise<void> {
  let isLooking = false
  const look = async () => {
    if (isLooking) return
    isLooking = true
    try {
      const { rows } = await boss.getDb().executeSql(FOLLOW_CLOCK)
      if (rows.length === 0) return
      const [seconds = 0] = rows.map((row) => Number(row.seconds))
      log.warn({ seconds }, 'the clock of the database was set back; jobs and reserved starts follow it')
      await startsFollowClock(db, seconds)
    } catch (err) {
      log.debug({ err }, 'could not follow the clock of the database')
    } finally {
      isLooking = false
    }
  }
  await look()
  const timer = setInterval(look, CLOCK_LOOK_MS)
  stopping.addEventListener('abort', () => clearInterval(timer))
}

/** Schedules the queues that have a cron line, unless they are scheduled so. Ends the schedules of former queues. */
async function schedule(boss: PgBoss, queues: readonly Queue[]): Promise<void> {
  const known = new Map((await boss.getSchedules()).map(({ name, cron }) => [name, cron]))
  for (const name of FORMER) if (known.has(name)) await boss.unschedule(name)
  for (const { name, cron } of queues) {
    if (cron !== undefined && cron !== known.get(name)) await boss.schedule(name, cron)
  }
}

/** Runs each scheduled queue once: a run may have become due while no process was running. */
async function runNow(boss: PgBoss, queues: readonly Queue[]): Promise<void> {
  await Promise.all(queues.filter(({ cron }) => cron !== undefined).map(({ name }) => boss.send(name, {})))
}

async function startWorker(
  boss: PgBoss,
  services: Services,
  { queue, run }: QueueWork,
  { starts, stopping }: { readonly starts: Starts; readonly stopping: AbortSignal },
): Promise<void> {
  const { name, batches = 1, batchSize = TAKE.batchSize, everySeconds, cron } = queue
  const isScheduled = cron !== undefined && everySeconds === undefined
  const { pollSeconds = isScheduled ? SELDOM_SECONDS : TAKE.notifyPollingIntervalSeconds } = queue
  const settle = async ({ id, data, signal }: BossJob<unknown>): Promise<JobResult> => {
    try {
      if (everySeconds !== undefined) await queueNext(boss, services, { name, everySeconds, stopping })
      const work = () => run(services, data, AbortSignal.any([signal, stopping]))
      await (isScheduled ? starts(work) : work())
      return { id, status: 'completed' }
    } catch (error) {
      // The queue, or the next run, repeats it.
      if (isDeadlock(error)) services.log.warn({ err: error, queue: name, job: id }, 'a job met a deadlock')
      else services.log.error({ err: error, queue: name, job: id }, 'a job failed')
      return { id, status: 'failed', output: { message: error instanceof Error ? error.message : '' } }
    }
  }
  const take = (localConcurrency: number, seconds: number) => {
    const poll = { pollingIntervalSeconds: Math.min(2, seconds), notifyPollingIntervalSeconds: seconds }
    const options = { ...TAKE, ...poll, batchSize, localConcurrency }
    return boss.work<unknown>(name, options, (jobs) => Promise.all(jobs.map(settle)))
  }
  await take(1, pollSeconds)
  if (batches > 1) await take(batches - 1, SELDOM_SECONDS)
}

/** Starts work; it ends as the work does. */
type Starts = (work: () => Promise<void>) => Promise<void>

/**
 * Starts each piece of work when the one before it has ended, or after `nextMs`. Scheduled runs of all queues become due
 * in the same moment of a minute: at once they would take processors and connections from deliveries.
 */
export function oneAfterAnother(nextMs = NEXT_START_MS): Starts {
  const turns = new Turns({ atOnce: 1 })
  return async (work) => {
    const end = await turns.begin('starts')
    const timer = setTimeout(end, nextMs)
    try {
      await work()
    } finally {
      clearTimeout(timer)
      end()
    }
  }
}

/** Queues the next run of a chain, with retries: an outage of the database between two runs must not end the chain. */
async function queueNext(
  boss: PgBoss,
  { log }: Pick<Services, 'log'>,
  { name, everySeconds, stopping }: { name: string; everySeconds: number; stopping: AbortSignal },
): Promise<void> {
  for (;;) {
    try {
      await boss.send(name, {}, { startAfter: everySeconds })
      return
    } catch (err) {
      log.debug({ err, queue: name }, 'could not queue the next run')
      if (stopping.aborted) return
      await restFor(CHAIN_RETRY_MS)
    }
  }
}
