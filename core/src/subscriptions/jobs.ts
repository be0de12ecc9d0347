import { laneQueue } from '../dispatch/index.ts'
import { NO_PAYLOAD, queue } from '../platform/queues.ts'

/** Looks at subscriptions that have events to send. */
export const CALLBACK_LANES = laneQueue('subscriptions.lanes')

/**
 * Ends event subscriptions that have expired, also where no process sends, and deletes old messages. Singleton, and
 * as safe to interrupt as the other sweeps.
 */
export const SUBSCRIPTION_SWEEP = queue({
  name: 'subscriptions.sweep',
  payload: NO_PAYLOAD,
  options: { policy: 'singleton', retryLimit: 0, expireInSeconds: 300, deleteAfterSeconds: 3600 },
  cron: '* * * * *',
})
