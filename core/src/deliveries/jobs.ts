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
 * Owns every attempt that was claimed: by a job, by a flow, or by a capture, which hands it over in memory. Ends the
 * leases of processes without a heartbeat, and recovers the attempts whose lease has ended. Runs every 2 s, as for watchdogs.
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

/** Raises alerts about actions of which all attempts fail. */
export const FAILING_CHECK = queue({
  name: 'deliveries.failing',
  payload: NO_PAYLOAD,
  options: { policy: 'short', retryLimit: 0, expireInSeconds: 120, deleteAfterSeconds: 60 },
  cron: '* * * * *',
})
