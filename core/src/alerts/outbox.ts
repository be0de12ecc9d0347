/** What the sender of alerts needs of the outbox; everybody else uses `index.ts`. */
export { findAlert } from './find.ts'
export { severityOf } from './incidents.ts'
export {
  findWaitingOpening,
  insertAlert,
  lockWaitingAlert,
  markFannedOut,
  pruneAlerts,
  waitingSince,
} from './queries.ts'
export { type Occasion, outboxRow } from './raise.ts'
