export type {
  Adapter,
  Ended,
  LaneKind,
  LanesWith,
  LaneWithSlots,
  Look,
  Outcome,
  Room,
  Send,
  Signal,
} from './adapter.ts'
export { SIGNALS, waitingOf } from './adapter.ts'
export {
  type DueLane,
  LANE_SWEEP,
  type Lane,
  LaneJobs,
  type LaneQueue,
  laneQueue,
  queueLanes,
  queueRecovery,
  type SharedJob,
} from './jobs.ts'
export { type Lanes, lanesOf, type SendLoad } from './lanes.ts'
export { sendLagSeconds, sendsInFlight, sendsWaiting } from './metrics.ts'
export { LATE_MS_MAX, LEAD_MS_MAX, type PacedStart, type StartPlace } from './pacing.ts'
export { Recorder, type Recording } from './recorder.ts'
export {
  nextAttemptAt,
  type RetrySchedule,
  retryAfterOf,
  retryAfterSeconds,
} from './retryPolicy.ts'
export type { RunningLanes, SendSlot } from './scheduler.ts'
export {
  dividedLimits,
  type HeldSlot,
  SLOT_LIMITS,
  type SlotLane,
  type SlotLimits,
  Slots,
} from './slots.ts'
