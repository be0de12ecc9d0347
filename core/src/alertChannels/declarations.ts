import { laneQueue } from '../dispatch/index.ts'
import { NO_PAYLOAD, queue } from '../platform/queues.ts'
import { sealedTable } from '../platform/secrets/index.ts'

/** Secrets that the noun stores. */
export const SEALED_CHANNELS = sealedTable('alertChannels', ['secret'])

/** Looks at channels, and at workspaces for mails, that have alerts to send. */
export const ALERT_LANES = laneQueue('alerts.lanes')

/**
 * Queues alerts whose jobs were lost and deletes those that are over 30 days old. Short: one queued is enough, and a job
 * whose worker died must not block the next.
 */
export const ALERT_SWEEP = queue({
  name: 'alerts.sweep',
  payload: NO_PAYLOAD,
  options: { policy: 'short', retryLimit: 0, expireInSeconds: 300 },
  cron: '* * * * *',
})
