/** The outbox for the sender of alerts; all other code uses `index.ts`. */
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
