export { type Attempt, type AttemptResult, LEASE_SECONDS, TIMEOUT_SECONDS } from './attempt.ts'
export { forwardAction, leaseFrom, refusalOf } from './attemptOf.ts'
export {
  AUTH_KINDS,
  type AuthSettings,
  authText,
  storedAuth,
  storedTls,
  type TlsSettings,
  tlsText,
} from './auth.ts'
export {
  hasRecords,
  headersFromText,
  keepSentBodies,
  RECORDED_BODY_BYTES,
  withSentBodies,
} from './details.ts'
export { FORWARD_COLUMNS, type ForwardSettings } from './dueAttempts.ts'
export { insertDeliveries, type NewDelivery } from './enqueue.ts'
export { watchFailing } from './failing.ts'
export { finishNotify } from './finishNotify.ts'
export {
  beginFirstAttempts,
  type ClaimedFirst,
  type FirstAttempts,
  NO_FIRST_ATTEMPTS,
} from './firstAttempts.ts'
export { onFirstResult } from './firstResults.ts'
export { Backlog, readBacklog, readFlowFigures } from './flow/backlog.ts'
export { ACTION_INCIDENTS, applyPolicy, forgetDelay, startsFollowClock } from './flow/control.ts'
export { flowSends } from './flow/flowSends.ts'
export { admitGuests, finishGuests, type GuestStarts, startGuests, tellGuests } from './flow/guests.ts'
export { leaveFlows } from './flow/held.ts'
export { type OrderKeyOf, orderKeyReader, rekeyDeliveries } from './flow/orderKey.ts'
export { lockFlow, reserveStart } from './flow/upkeep.ts'
export { flowSignal, wakeFlows } from './flow/wake.ts'
export { watchBacklogs } from './flow/watchBacklogs.ts'
export { hopsOf, isLoop, originHeaders, rehearsalHeader } from './forwardHeaders.ts'
export { BACKLOG_CHECK, DELIVERY_LANES, FAILING_CHECK, RECOVERY_SWEEP } from './jobs.ts'
export { breakersOpen, flowDeliveries, pausedActions } from './metrics.ts'
export { notifyMessage } from './notify.ts'
export { dropDeliveries, dropMost, endDeliveries, releaseHeld, resumeDeliveries } from './openDeliveries.ts'
export {
  DeliveryPolicy,
  NO_POLICY,
  ORDER_BY_ENDPOINT,
  policyText,
  scheduleOf,
  storedPolicy,
} from './policy.ts'
export { insertInlineAttempt } from './queries.ts'
export type { AttemptRow } from './read.ts'
export { findAttempts, findDetail } from './read.ts'
export { type Concluded, conclude, type PauseGone, recordAttempts } from './record.ts'
export { recordedBody } from './recordedBody.ts'
export { recordListen } from './recordListen.ts'
export { recoverInterrupted } from './recover.ts'
export { isRetrySchedule, RETRY_DELAYS_SECONDS, retryDelaysOf, retryScheduleText } from './retrySchedule.ts'
export { DeliveryAttempt, DeliveryAttemptDetail } from './schema.ts'
export { sealLateRecords, sealRecords } from './sealRecords.ts'
export { sendAttempt } from './send.ts'
export { START_DELIVERIES, type StartedDelivery, startedDelivery, startParameters } from './startStatement.ts'
export { GONE, type Trigger } from './states.ts'
export { addAttemptBytes, countAttempts, foldAttemptBytes } from './storageBytes.ts'
export { attemptView, attemptWithRecord } from './view.ts'
export { beatDeliveryWorker, registerDeliveryWorker, shortenLeases, startPresence } from './workers.ts'
