import { z } from 'zod'
import { queue } from '../platform/queues.ts'

/** Determines the recipients of an alert in the outbox. `alerts.sweep` finds lost jobs. */
export const ALERT_FAN_OUT = queue({
  name: 'alerts.fanOut',
  payload: z.object({ alertId: z.uuid() }),
  options: { retryLimit: 5, expireInSeconds: 60, heartbeatSeconds: 10 },
})
