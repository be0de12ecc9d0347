export { RECONCILIATION_RUNS, RECONCILIATION_SWEEP, SEALED_RECONCILIATIONS } from './declarations.ts'
export { runReconciliation, sweepReconciliations } from './run.ts'
