import { z } from 'zod'
import { NO_PAYLOAD, queue } from '../platform/queues.ts'

/**
 * Works on one erasure for some seconds, then queues the next job. An erasure has a lease, so a second job of it does
 * nothing. The queue's own retries are for a worker that died.
 */
export const ERASURE_RUNS = queue({
  name: 'erasures.run',
  payload: z.object({ erasureId: z.uuid() }),
  options: {
    policy: 'standard',
    retryLimit: 1000,
    expireInSeconds: 300,
    heartbeatSeconds: 10,
    notify: true,
    deleteAfterSeconds: 600,
  },
  batchSize: 1,
  pollSeconds: 5,
})

/** Queues a job for erasures that lost theirs. Singleton, and safe to interrupt. */
export const ERASURE_SWEEP = queue({
  name: 'erasures.sweep',
  payload: NO_PAYLOAD,
  options: { policy: 'singleton', retryLimit: 0, expireInSeconds: 300, deleteAfterSeconds: 3600 },
  cron: '* * * * *',
})
