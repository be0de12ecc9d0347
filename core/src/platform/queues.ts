import { z } from 'zod'
import { ATTEMPT_JOB } from './attemptJobs.ts'
import type { Trx } from './db/index.ts'

/** Settings of a queue; the names of the options are pg-boss's. */
export interface QueueSpec {
  readonly payload: z.ZodType
  readonly options: {
    /** `singleton`: at most one queued and one running. */
    readonly policy?: 'standard' | 'short' | 'singleton' | 'stately'
    /** Retries of a *crashed* job. An expected failure is a result, not an exception. */
    readonly retryLimit: number
    /** Seconds after which a job that has not ended counts as crashed. */
    readonly expireInSeconds?: number
    readonly heartbeatSeconds?: number
    /** Its own table, so that a busy queue does not slow the others down. */
    readonly partition?: boolean
    /** Wakes workers through LISTEN/NOTIFY; without it they poll. */
    readonly notify?: boolean
    /** Seconds for which an ended job is kept; a week by default. */
    readonly deleteAfterSeconds?: number
  }
  /** Batches that one process runs at once. With several, a slow one does not block the others. Default 1. */
  readonly batches?: number
  /** Jobs of a batch, which ends with its slowest. Default 8. */
  readonly batchSize?: number
  /** Interval of polling for jobs that become due, in seconds. Default 2. */
  readonly pollSeconds?: number
  /** Cron line, in UTC, for scheduled jobs. */
  readonly cron?: string
  /**
   * Seconds after which the next run is due. Each run queues the next one before it works, so that a worker that dies
   * costs one run and not the chain. `policy: 'short'` limits it to one chain; the cron line restarts a broken one.
   */
  readonly everySeconds?: number
}

/** Seconds from one run of `storage.sweep` to the next. */
export const STORAGE_SWEEP_SECONDS = 10

/** Every background job: its payload, its policy and the reason for both. */
export const QUEUES = {
  /**
   * Starts attempts of deliveries; those that are due at the same time share a job. Each attempt is claimed, which
   * writes its Pending row with a lease, and passed to the dispatcher. From then on the lease covers the attempt. So
   * the job ends when its attempts have begun or are queued again, and a batch never waits for its slowest member.
   * Retries are new jobs; the queue's own retries are for a worker that died. Then the whole job runs again, and claims
   * of attempts that had begun find nothing to do.
   */
  'deliveries.attempt': {
    payload: ATTEMPT_JOB,
    options: {
      policy: 'standard',
      retryLimit: 1000,
      expireInSeconds: 60,
      heartbeatSeconds: 10,
      partition: true,
      notify: true,
      deleteAfterSeconds: 60,
    },
  },
  /**
   * Owns the first attempts that one batch of captures claimed and handed over in memory. It is inserted in their
   * transaction, due when their leases end, and deleted with the last of their results. So it only runs where their
   * process has left some without a result, and recovers them. See {@link RecoveryJobSql}.
   */
  'deliveries.recover': {
    payload: z.object({
      /** The process that makes the attempts; null for one that is not watched. */
      workerId: z.int().nullable(),
      /** Number of the attempts that were claimed. */
      attempts: z.int(),
    }),
    options: {
      policy: 'standard',
      retryLimit: 1000,
      expireInSeconds: 120,
      partition: true,
      notify: false,
      deleteAfterSeconds: 60,
    },
  },
  /**
   * Ends the leases of processes without a heartbeat, and recovers every attempt whose lease has ended, however it was
   * claimed. Runs every 2 s, as for watchdogs.
   */
  'deliveries.sweep': {
    payload: z.object({}),
    options: { policy: 'short', retryLimit: 0, expireInSeconds: 120, deleteAfterSeconds: 60 },
    pollSeconds: 1,
    cron: '* * * * *',
    everySeconds: 1,
  },
  /**
   * Enforces the limits of storage in bytes. A run checks once, or, if a limit is half reached, every second until the
   * next run is due.
   */
  'storage.sweep': {
    payload: z.object({}),
    options: { policy: 'short', retryLimit: 0, expireInSeconds: 3600, deleteAfterSeconds: 60 },
    cron: '* * * * *',
    everySeconds: STORAGE_SWEEP_SECONDS,
  },
  /** Analyses tables that have outgrown their statistics. */
  'statistics.analyze': {
    payload: z.object({}),
    options: { policy: 'short', retryLimit: 0, expireInSeconds: 3600, deleteAfterSeconds: 60 },
    cron: '* * * * *',
    everySeconds: 1,
  },
  /**
   * Deletes expired endpoints and the rows of deleted ones, and lifts suspensions for which there is room. Singleton:
   * two sweeps at once would only wait for each other's locks. The next run resumes where this one stopped.
   */
  'endpoints.sweep': {
    payload: z.object({}),
    options: { policy: 'singleton', retryLimit: 0, expireInSeconds: 3600, deleteAfterSeconds: 3600 },
    cron: '* * * * *',
  },
  /** Deletes rows past the retention of their plan. Singleton like the other sweep, and safe to interrupt. */
  'retention.sweep': {
    payload: z.object({}),
    options: { policy: 'singleton', retryLimit: 0, expireInSeconds: 3600, deleteAfterSeconds: 3600 },
    cron: '*/5 * * * *',
  },
  /**
   * Finishes imports whose process died, and drops those that were not fully checked. Singleton; the next run resumes
   * where this one stopped.
   */
  'imports.sweep': {
    payload: z.object({}),
    options: { policy: 'singleton', retryLimit: 0, expireInSeconds: 3600, deleteAfterSeconds: 3600 },
    cron: '* * * * *',
  },
  /**
   * Raises the alarms of watchdogs that are due. With the poll of a second that makes a look every 2 s, which a
   * watchdog of a few seconds needs: no alarm is over 3 s late.
   */
  'watchdogs.check': {
    payload: z.object({}),
    options: { policy: 'short', retryLimit: 0, expireInSeconds: 120, deleteAfterSeconds: 60 },
    pollSeconds: 1,
    cron: '* * * * *',
    everySeconds: 1,
  },
  /**
   * Raises alerts about certificates of actions that are about to expire. Singleton; the next run resumes where this
   * one stopped.
   */
  'certificates.check': {
    payload: z.object({}),
    options: { policy: 'singleton', retryLimit: 0, expireInSeconds: 600, deleteAfterSeconds: 3600 },
    cron: '23 * * * *',
  },
  /** Raises alerts about deliveries that wait for longer than their action allows. Short: one queued is enough. */
  'deliveries.backlog': {
    payload: z.object({}),
    options: { policy: 'short', retryLimit: 0, expireInSeconds: 120, deleteAfterSeconds: 60 },
    cron: '* * * * *',
  },
  /** Determines the recipients of an alert in the outbox. `alerts.sweep` finds lost jobs. */
  'alerts.fanOut': {
    payload: z.object({ alertId: z.uuid() }),
    options: { retryLimit: 5, expireInSeconds: 60, heartbeatSeconds: 10 },
  },
  /**
   * Sends an alert to one place, once. A failed send is a result, not an exception: its next attempt is a new job. So
   * the queue's own retries happen only after a worker died, when the claim on the row has expired.
   */
  'alerts.send': {
    payload: z.object({ alertDeliveryId: z.int() }),
    options: { retryLimit: 5, expireInSeconds: 60, heartbeatSeconds: 10 },
    // A provider that does not answer takes 10 s and must not delay the others.
    batches: 4,
  },
  /**
   * Queues sends that a crash left behind and deletes alerts that are over 30 days old. Short: one queued is enough,
   * and a job whose worker died must not block the next.
   */
  'alerts.sweep': {
    payload: z.object({}),
    options: { policy: 'short', retryLimit: 0, expireInSeconds: 300 },
    cron: '* * * * *',
  },
  /**
   * Works on one reconciliation for some seconds, then makes room for others: each job queues the next one of its run,
   * in the transaction of its last step. A run has a lease, so a second job of it does nothing. The queue's own retries
   * are for a worker that died.
   */
  'reconcile.run': {
    payload: z.object({ reconciliationId: z.uuid() }),
    options: {
      policy: 'standard',
      retryLimit: 1000,
      expireInSeconds: 180,
      heartbeatSeconds: 10,
      notify: true,
      deleteAfterSeconds: 600,
    },
    // A sender that does not answer takes its 15 s: it must not keep the others waiting. Each holds a page in memory,
    // and polls.
    batches: 4,
    // More than one: a backlog of batches is worked off without a pause.
    batchSize: 2,
    pollSeconds: 5,
  },
  /**
   * Works on one replay of many requests for some seconds, then makes room for others. A replay has a lease, so a second
   * job of it does nothing. The queue's own retries are for a worker that died.
   */
  'replays.run': {
    payload: z.object({ replayId: z.uuid() }),
    options: {
      policy: 'standard',
      retryLimit: 1000,
      expireInSeconds: 300,
      heartbeatSeconds: 10,
      notify: true,
      deleteAfterSeconds: 600,
    },
    // A receiver that does not answer must not delay the replays of others.
    batches: 4,
    batchSize: 2,
    pollSeconds: 2,
  },
  /** Queues a job for replays that lost theirs. Singleton, and as safe to interrupt as the other sweeps. */
  'replays.sweep': {
    payload: z.object({}),
    options: { policy: 'singleton', retryLimit: 0, expireInSeconds: 300, deleteAfterSeconds: 3600 },
    cron: '* * * * *',
  },
  /** Queues a job for reconciliations that lost theirs. Singleton, and as safe to interrupt as the other sweeps. */
  'reconcile.sweep': {
    payload: z.object({}),
    options: { policy: 'singleton', retryLimit: 0, expireInSeconds: 300, deleteAfterSeconds: 3600 },
    cron: '* * * * *',
  },
  /**
   * Ends event subscriptions that have expired, also where no process sends, and deletes old messages. Singleton, and
   * as safe to interrupt as the other sweeps.
   */
  'subscriptions.sweep': {
    payload: z.object({}),
    options: { policy: 'singleton', retryLimit: 0, expireInSeconds: 300, deleteAfterSeconds: 3600 },
    cron: '* * * * *',
  },
} as const satisfies Record<string, QueueSpec>

/** The name of a queue: a key of {@link QUEUES}. */
export type QueueName = keyof typeof QUEUES
/** Payload of the jobs of a queue, after parsing. */
export type Payload<Name extends QueueName> = z.infer<(typeof QUEUES)[Name]['payload']>

/** A job to add. Without `startAfter` it runs as soon as a worker is free. */
export interface Job<Name extends QueueName> {
  readonly payload: Payload<Name>
  readonly startAfter?: Date
}

/** Adds jobs in the caller's transaction: they exist if and only if it commits. */
export type Enqueue = <Name extends QueueName>(
  trx: Trx,
  name: Name,
  jobs: readonly Job<Name>[],
) => Promise<void>

/**
 * SQL for jobs of `deliveries.recover` as parts of core's own statements: they are inserted and deleted in the round
 * trip of their attempts. Each argument is an SQL expression.
 */
export interface RecoveryJobSql {
  /** An `insert` of one job, or of none where `attempts` is 0. Returns no rows. */
  insert(job: {
    readonly id: string
    readonly startAfter: string
    readonly workerId: string
    readonly attempts: string
  }): string
  /** A `delete` of jobs, to be continued by further conditions. */
  remove(ids: string): string
}
