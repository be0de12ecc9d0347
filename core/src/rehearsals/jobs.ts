import { z } from 'zod'
import { NO_PAYLOAD, queue } from '../platform/queues.ts'

/**
 * Works on one replay of many requests for some seconds, then makes room for others. A replay has a lease, so a second
 * job of it does nothing. The queue's own retries are for a worker that died.
 */
export const REPLAY_RUNS = queue({
  name: 'replays.run',
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
  calls: true,
})

/** Queues a job for replays that lost theirs. Singleton, and as safe to interrupt as the other sweeps. */
export const REPLAY_SWEEP = queue({
  name: 'replays.sweep',
  payload: NO_PAYLOAD,
  options: { policy: 'singleton', retryLimit: 0, expireInSeconds: 300, deleteAfterSeconds: 3600 },
  cron: '* * * * *',
})
