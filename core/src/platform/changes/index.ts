export { announceEndpointChange } from './announce.ts'
export type { EndpointChanges } from './endpointChanges.ts'
export { type RunningEndpointChanges, startEndpointChanges } from './listen.ts'
