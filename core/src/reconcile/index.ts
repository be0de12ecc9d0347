export { resealReconciliations } from './reseal.ts'
export { runReconciliation, sweepReconciliations } from './run.ts'
