export { checkWatchdogs, WATCHDOG_CHECK } from './check.ts'
export { startHeartbeat } from './downtime.ts'
export { type Criteria, listCriteria, listMatches } from './match.ts'
export { applyWatchdogLimit, keepDeadlines } from './settle.ts'
