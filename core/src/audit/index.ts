export { listEntries, sweepAudit } from './queries.ts'
export { type Change, changeOf, recordChange, recordSuspensions } from './record.ts'
export { AuditEntry, auditFilters, entryView } from './routes.ts'
