import { NO_PAYLOAD, queue } from '../platform/queues.ts'

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
