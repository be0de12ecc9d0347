export { replayRunRoutes } from './routes.ts'
export { runReplay, sweepReplays } from './run.ts'
