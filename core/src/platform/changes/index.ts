export { announceEndpointChange } from './announce.ts'
export { changesOf } from './changesOf.ts'
export type { EndpointChanges } from './endpointChanges.ts'
export { type RunningEndpointChanges, startEndpointChanges } from './listen.ts'
