export { announceEndpointChange } from './announce.ts'
export type { EndpointChanges } from './endpointChanges.ts'
export { ENDPOINT_CHANNEL, type RunningEndpointChanges, startEndpointChanges } from './listen.ts'
