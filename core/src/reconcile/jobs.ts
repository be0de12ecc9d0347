import { z } from 'zod'
import { NO_PAYLOAD, queue } from '../platform/queues.ts'

/**
 * Works on one reconciliation for some seconds, then makes room for others: each job queues the next one of its run,
 * in the transaction of its last step. A run has a lease, so a second job of it does nothing. The queue's own retries
 * are for a worker that died.
 */
export const RECONCILIATION_RUNS = queue({
  name: 'reconcile.run',
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
  calls: true,
})

/** Queues a job for reconciliations that lost theirs. Singleton, and as safe to interrupt as the other sweeps. */
export const RECONCILIATION_SWEEP = queue({
  name: 'reconcile.sweep',
  payload: NO_PAYLOAD,
  options: { policy: 'singleton', retryLimit: 0, expireInSeconds: 300, deleteAfterSeconds: 3600 },
  cron: '* * * * *',
})
