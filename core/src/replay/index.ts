export { beginReplay, type ReplayTarget } from './replayThrough.ts'
