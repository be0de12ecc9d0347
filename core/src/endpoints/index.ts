export { findsEndpoint, findsNamedEndpoint, namedEndpointOf } from './find.ts'
export { learnSigningSecret } from './learnSigningSecret.ts'
export { applyEndpointLimit } from './planLimit.ts'
export { announceEndpointChange, type EndpointRow, findEndpoint, lockWorkspace } from './queries.ts'
export {
  type CaptureResponse,
  OWN_ANSWER_HEADERS,
  type ServedResponse,
  safeResponse,
} from './responseRules.ts'
export { captureUrlOf } from './view.ts'
