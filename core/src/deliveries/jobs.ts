import { laneQueue } from '../dispatch/index.ts'
import { EACH_2_SECONDS, shortQueue } from '../platform/queues.ts'

/**
 * Owns every attempt that was claimed: by a look at a lane, or by a capture, which hands it over in memory. Ends the
 * leases of processes without a heartbeat, and recovers the attempts whose lease has ended.
 */
export const RECOVERY_SWEEP = shortQueue('deliveries.sweep', 120, EACH_2_SECONDS)

/** Raises alerts about deliveries that wait for longer than their action allows. Short: one queued is enough. */
export const BACKLOG_CHECK = shortQueue('deliveries.backlog', 120)

/** Raises alerts about actions of which all attempts fail. */
export const FAILING_CHECK = shortQueue('deliveries.failing', 120)

/** Looks at the lanes of actions. */
export const DELIVERY_LANES = laneQueue('deliveries.lanes')
