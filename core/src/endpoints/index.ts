export { findsEndpoint } from './find.ts'
export { announceEndpointChange, type EndpointRow, findEndpoint, lockWorkspace } from './queries.ts'
export { captureUrlOf } from './view.ts'
