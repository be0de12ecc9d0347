export { listEntries, sweepAudit } from './queries.ts'
export { type Change, changeOf, recordChange, recordSuspensions, type Suspension } from './record.ts'
export { AuditEntry, auditFilters, entryView } from './routes.ts'
