import { laneQueue } from '../dispatch/index.ts'
import { NO_PAYLOAD, queue } from '../platform/queues.ts'

/**
 * Owns every attempt that was claimed: by a look at a lane, or by a capture, which hands it over in memory. Ends the
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

/** Looks at the lanes of actions. */
export const DELIVERY_LANES = laneQueue('deliveries.lanes')
