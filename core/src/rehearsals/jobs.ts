import { laneQueue } from '../dispatch/index.ts'
import { sweepQueue } from '../platform/queues.ts'

/** Looks at replays of many requests that the service sends. */
export const REPLAY_LANES = laneQueue('replays.lanes')

/** Pauses replays whose listeners have gone. */
export const REPLAY_SWEEP = sweepQueue('replays.sweep', 300)
