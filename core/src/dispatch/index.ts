export type { Adapter, Ended, LaneWithSlots, Look, Outcome, Room, Send, Signal } from './adapter.ts'
export { SIGNALS, waitingOf } from './adapter.ts'
export {
  type DueLane,
  LANE_SWEEP,
  LaneJobs,
  laneQueue,
  queueLanes,
  queueRecovery,
  type SharedJob,
} from './jobs.ts'
export { type Lanes, lanesOf, type SendLoad } from './lanes.ts'
export { sendLagSeconds, sendsWaiting } from './metrics.ts'
export { LATE_MS_MAX, LEAD_MS_MAX, type StartPlace } from './pacing.ts'
export {
  nextAttemptAt,
  type RetrySchedule,
  retryAfterOf,
  retryAfterSeconds,
} from './retryPolicy.ts'
export type { RunningLanes, SendSlot } from './scheduler.ts'
export { dividedLimits, type Lane, Slots } from './slots.ts'
