export { pauseAbandoned } from './control.ts'
export { forgetAnswers, isAnySending, nextAnswers, REPLAY_SWEEP, sealAnswers } from './declarations.ts'
export { replayRunRoutes } from './routes.ts'
export { REHEARSAL_SENDS } from './sends.ts'
