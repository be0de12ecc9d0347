export { forgetAnswers, nextAnswers } from './forget.ts'
export { REPLAY_RUNS, REPLAY_SWEEP } from './jobs.ts'
export { replayRunRoutes } from './routes.ts'
export { runReplay, sweepReplays } from './run.ts'
