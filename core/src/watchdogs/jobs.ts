import { NO_PAYLOAD, queue } from '../platform/queues.ts'

/**
 * Raises the alarms of watchdogs that are due. With the poll of a second that makes a look every 2 s, which a
 * watchdog of a few seconds needs: no alarm is over 3 s late.
 */
export const WATCHDOG_CHECK = queue({
  name: 'watchdogs.check',
  payload: NO_PAYLOAD,
  options: { policy: 'short', retryLimit: 0, expireInSeconds: 120, deleteAfterSeconds: 60 },
  pollSeconds: 1,
  cron: '* * * * *',
  everySeconds: 1,
})
