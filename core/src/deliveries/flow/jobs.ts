import { laneQueue } from '../../dispatch/index.ts'

/** Looks at the flows of governed actions. */
export const DELIVERY_LANES = laneQueue('deliveries.lanes')
