export { checkWatchdogs } from './check.ts'
export { type Criteria, listCriteria } from './criteria.ts'
export { beat, HEARTBEAT_SECONDS } from './downtime.ts'
export { applyWatchdogLimit } from './planPause.ts'
