export { ERASURE_RUNS, ERASURE_SWEEP, SEALED_ERASURES } from './declarations.ts'
export { erasureRoutes } from './routes.ts'
export { runErasure, sweepErasures } from './run.ts'
