export type { Adapter, DueLane, Ended, Lane, LaneKind, Look, Outcome, Send } from './adapter.ts'
export { type LaneQueue, laneQueue, queueLanes } from './laneJobs.ts'
export { LANE_SWEEP, type Lanes, lanesOf } from './lanes.ts'
export { Recorder, type Recording } from './recorder.ts'
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
