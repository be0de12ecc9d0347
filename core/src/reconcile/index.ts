export { RECONCILIATION_RUNS, RECONCILIATION_SWEEP } from './jobs.ts'
export { SEALED_RECONCILIATIONS } from './reseal.ts'
export { runReconciliation, sweepReconciliations } from './run.ts'
