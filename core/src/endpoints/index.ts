export { findsEndpoint } from './find.ts'
export { type EndpointRow, findEndpoint, lockWorkspace } from './queries.ts'
export { captureUrlOf } from './view.ts'
