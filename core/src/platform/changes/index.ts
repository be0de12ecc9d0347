export { announceEndpointChange } from './announce.ts'
export { ENDPOINT_CHANNEL, type RunningWakeups, startWakeups } from './listen.ts'
export type { Wakeups } from './wakeups.ts'
