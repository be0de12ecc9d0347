import { z } from 'zod'
import { NO_PAYLOAD, queue } from '../../platform/queues.ts'

/**
 * Sends an alert to one place, once. A failed send is a result, not an exception: its next attempt is a new job. So
 * the queue's own retries happen only after a worker died, when the claim on the row has expired.
 */
export const ALERT_SENDS = queue({
  name: 'alerts.send',
  payload: z.object({ alertDeliveryId: z.int() }),
  options: { retryLimit: 5, expireInSeconds: 60, heartbeatSeconds: 10 },
  // A provider that does not answer takes 10 s and must not delay the others.
  batches: 4,
  calls: true,
})

/**
 * Queues sends that a crash left behind and deletes alerts that are over 30 days old. Short: one queued is enough,
 * and a job whose worker died must not block the next.
 */
export const ALERT_SWEEP = queue({
  name: 'alerts.sweep',
  payload: NO_PAYLOAD,
  options: { policy: 'short', retryLimit: 0, expireInSeconds: 300 },
  cron: '* * * * *',
})
