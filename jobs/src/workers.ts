import {
  analyzeOutgrown,
  type Payload,
  QUEUES,
  type QueueName,
  type QueueSpec,
  type Services,
} from '@creel/core'
import { checkCertificates } from '@creel/core/actions'
import { fanOutAlert, sendAlert, sweepAlerts } from '@creel/core/alertChannels'
import {
  type FirstAttempts,
  finishNotify,
  recoverInterrupted,
  recoverOverdue,
  watchBacklogs,
} from '@creel/core/deliveries'
import { sweepImports } from '@creel/core/exports'
import { sleep, within } from '@creel/core/platform/time'
import { runReconciliation, sweepReconciliations } from '@creel/core/reconcile'
import { sweepRelay } from '@creel/core/relay'
import { runReplay, sweepReplays } from '@creel/core/replays'
import { holdByteBounds, sweepEndpoints, sweepRetention } from '@creel/core/retention'
import { startSubscriptionSender, sweepSubscriptions } from '@creel/core/subscriptions'
import { checkWatchdogs } from '@creel/core/watchdogs'
import type { Job as BossJob, JobResult, PgBoss } from 'pg-boss'
import { queueNames } from './boss.ts'
import { startAttemptWorker } from './dispatch/attemptWorker.ts'
import { startDispatcher } from './dispatch/dispatcher.ts'

/** The work of a job: a verb of core. It runs at least once; every verb is safe to run twice. */
export type Worker<Name extends QueueName> = (
  services: Services,
  payload: Payload<Name>,
  signal: AbortSignal,
) => Promise<void>

/** Queues whose jobs start attempts: the dispatcher takes them in batches. */
type DispatchQueue = 'deliveries.attempt'

/** The verb of each queue. A queue without one does not compile. */
const WORKERS: { readonly [Name in Exclude<QueueName, DispatchQueue>]: Worker<Name> } = {
  'alerts.fanOut': fanOutAlert,
  'alerts.send': (services, payload, signal) => sendAlert(services, payload, signal, finishNotify),
  'alerts.sweep': sweepAlerts,
  'deliveries.recover': async (services) => void (await recoverOverdue(services)),
  'deliveries.sweep': async (services) => void (await recoverInterrupted(services)),
  'certificates.check': (services, _payload, signal) => checkCertificates(services, signal),
  'deliveries.backlog': watchBacklogs,
  'endpoints.sweep': async (services, _payload, signal) => {
    await sweepEndpoints(services, signal)
    await sweepRelay(services)
  },
  'imports.sweep': (services, _payload, signal) => sweepImports(services, signal),
  'reconcile.run': runReconciliation,
  'reconcile.sweep': (services) => sweepReconciliations(services),
  'replays.run': runReplay,
  'replays.sweep': (services) => sweepReplays(services),
  'retention.sweep': (services, _payload, signal) => sweepRetention(services, signal),
  'statistics.analyze': (services) => analyzeOutgrown(services.db),
  'storage.sweep': (services, _payload, signal) => holdByteBounds(services, signal),
  'subscriptions.sweep': (services) => sweepSubscriptions(services),
  'watchdogs.check': (services, _payload, signal) => checkWatchdogs(services, signal),
}

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

/** Delay before another try to queue the next run of a chain. */
const CHAIN_RETRY_MS = 1000

/** The workers of this process. */
export interface RunningWorkers {
  /** Makes first attempts of requests that this process captures. */
  readonly firstAttempts: FirstAttempts
  /** Takes no further attempts, waits for those in flight and records them; at most `timeoutMs`. */
  stop(timeoutMs: number): Promise<void>
}

/** Queues whose jobs call other servers. */
const SENDING_QUEUES: readonly QueueName[] = [
  'deliveries.attempt',
  'alerts.send',
  'reconcile.run',
  'replays.run',
]

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
  const dispatcher = startDispatcher(services, { dispatches, processes })
  const stopping = new AbortController()
  const events = dispatches ? startSubscriptionSender(services) : undefined
  const worked = queueNames.filter((name) => dispatches || !SENDING_QUEUES.includes(name))
  for (const name of queueNames) {
    if (!worked.includes(name)) continue
    if (name === 'deliveries.attempt') await startAttemptWorker(boss, services, dispatcher, stopping.signal)
    else await startWorker(boss, services, name, stopping.signal)
    const { cron }: QueueSpec = QUEUES[name]
    if (cron === undefined) continue
    await boss.schedule(name, cron)
    // Runs once now: a run may have become due while no process was running.
    await boss.send(name, {})
  }
  return {
    // Without dispatching, first attempts wait in their queue like the others.
    firstAttempts: dispatches ? dispatcher.firstAttempts : { hold: () => undefined },
    async stop(timeoutMs) {
      stopping.abort()
      // Stops the queues itself: pg-boss's graceful stop checks only every half second whether jobs have ended.
      const others = Promise.all(
        worked.filter((name) => name !== 'deliveries.attempt').map((name) => boss.offWork(name)),
      )
      if (dispatches) await boss.offWork('deliveries.attempt')
      await Promise.all([dispatcher.drain(timeoutMs), events?.stop(timeoutMs), within(others, timeoutMs)])
    },
  }
}

async function startWorker<Name extends Exclude<QueueName, DispatchQueue>>(
  boss: PgBoss,
  services: Services,
  name: Name,
  stopping: AbortSignal,
): Promise<void> {
  const run = WORKERS[name]
  const {
    batches = 1,
    batchSize = TAKE.batchSize,
    pollSeconds = TAKE.notifyPollingIntervalSeconds,
    everySeconds,
  }: QueueSpec = QUEUES[name]
  const settle = async ({ id, data, signal }: BossJob<Payload<Name>>): Promise<JobResult> => {
    try {
      if (everySeconds !== undefined) await queueNext(boss, services, { name, everySeconds, stopping })
      await run(services, data, AbortSignal.any([signal, stopping]))
      return { id, status: 'completed' }
    } catch (error) {
      services.log.error({ err: error, queue: name, job: id }, 'a job failed')
      return { id, status: 'failed', output: { message: error instanceof Error ? error.message : '' } }
    }
  }
  await boss.work<Payload<Name>>(
    name,
    {
      ...TAKE,
      batchSize,
      pollingIntervalSeconds: Math.min(2, pollSeconds),
      notifyPollingIntervalSeconds: pollSeconds,
      localConcurrency: batches,
    },
    (jobs) => Promise.all(jobs.map(settle)),
  )
}

/** Queues the next run of a chain, with retries: an outage of the database between two runs must not end the chain. */
async function queueNext(
  boss: PgBoss,
  { log }: Pick<Services, 'log'>,
  { name, everySeconds, stopping }: { name: QueueName; everySeconds: number; stopping: AbortSignal },
): Promise<void> {
  for (;;) {
    try {
      await boss.send(name, {}, { startAfter: everySeconds })
      return
    } catch (err) {
      log.debug({ err, queue: name }, 'could not queue the next run')
      if (stopping.aborted) return
      await sleep(CHAIN_RETRY_MS)
    }
  }
}
