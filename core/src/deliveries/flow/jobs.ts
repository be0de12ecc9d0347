import { laneQueue } from '../../dispatch/index.ts'

/** Looks at the lanes of actions. */
export const DELIVERY_LANES = laneQueue('deliveries.lanes')
