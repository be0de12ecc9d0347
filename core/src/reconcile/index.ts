export { SEALED_RECONCILIATIONS } from './reseal.ts'
export { runReconciliation, sweepReconciliations } from './run.ts'
