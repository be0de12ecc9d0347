export { beginForward, type ReplayTarget } from './replayThrough.ts'
