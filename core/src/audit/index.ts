export { listEntries } from './queries.ts'
export { type Change, recordChange } from './record.ts'
export { AuditEntry, auditFilters, entryView } from './schema.ts'
export { sweepAudit } from './sweep.ts'
