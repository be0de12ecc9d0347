export type { Adapter, Ended, LaneKind, Look, Outcome, Send } from './adapter.ts'
export { type DueLane, LANE_SWEEP, type Lane, type LaneQueue, laneQueue, queueLanes } from './jobs.ts'
export { type Lanes, lanesOf } from './lanes.ts'
export { Recorder, type Recording } from './recorder.ts'
export {
  nextAttemptAt,
  type RetrySchedule,
  retryAfterOf,
  retryAfterSeconds,
} from './retryPolicy.ts'
export type { RunningLanes } from './scheduler.ts'
export {
  type Admission,
  dividedLimits,
  type HeldSlot,
  SLOT_LIMITS,
  type SlotLane,
  type SlotLimits,
  Slots,
} from './slots.ts'
