export { type ReplayTarget, replayForward } from './replayThrough.ts'
