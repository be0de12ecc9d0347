import { z } from 'zod'
import { NO_PAYLOAD, queue } from '../platform/queues.ts'
import { ATTEMPT_JOB } from './attemptJobs.ts'

/**
 * Starts attempts of deliveries; those that are due at the same time share a job. Each attempt is claimed, which
 * writes its Pending row with a lease, and passed to the dispatcher. From then on the lease covers the attempt. So
 * the job ends when its attempts have begun or are queued again, and a batch never waits for its slowest member.
 * Retries are new jobs; the queue's own retries are for a worker that died. Then the whole job runs again, and claims
 * of attempts that had begun find nothing to do.
 */
export const DUE_ATTEMPTS = queue({
  name: 'deliveries.attempt',
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
  calls: true,
})

/**
 * Owns the first attempts that one batch of captures claimed and handed over in memory. It is inserted in their
 * transaction, due when their leases end, and deleted with the last of their results. So it only runs where their
 * process has left some without a result, and recovers them.
 */
export const RECOVERIES = queue({
  name: 'deliveries.recover',
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
})

/**
 * Ends the leases of processes without a heartbeat, and recovers every attempt whose lease has ended, however it was
 * claimed. Runs every 2 s, as for watchdogs.
 */
export const RECOVERY_SWEEP = queue({
  name: 'deliveries.sweep',
  payload: NO_PAYLOAD,
  options: { policy: 'short', retryLimit: 0, expireInSeconds: 120, deleteAfterSeconds: 60 },
  pollSeconds: 1,
  cron: '* * * * *',
  everySeconds: 1,
})

/** Raises alerts about deliveries that wait for longer than their action allows. Short: one queued is enough. */
export const BACKLOG_CHECK = queue({
  name: 'deliveries.backlog',
  payload: NO_PAYLOAD,
  options: { policy: 'short', retryLimit: 0, expireInSeconds: 120, deleteAfterSeconds: 60 },
  cron: '* * * * *',
})
