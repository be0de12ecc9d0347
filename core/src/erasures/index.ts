export { ERASURE_RUNS, ERASURE_SWEEP } from './jobs.ts'
export { SEALED_ERASURES } from './reseal.ts'
export { erasureRoutes } from './routes.ts'
export { runErasure, sweepErasures } from './run.ts'
