export {
  type CapturedRequest,
  headerText,
  headerValues,
  type JudgedRequest,
  type Verdict,
  type Verification,
  type WireHeader,
} from '../engine/message/capturedRequest.ts'
export { type FormValue, type ParsedBody, parsedBody } from '../engine/message/parsedBody.ts'
export { findsRequest, parseInt64 } from './find.ts'
export { type HistoricMatch, newestMatching } from './history.ts'
export { findRequest, lockCounters, type RequestRow } from './queries.ts'
export { issuesOfRequestIds, requestIdsInput, requestIdsOf } from './schema.ts'
export { STORED_REQUEST_COLUMNS, type StoredRequestRow, storedRequest } from './storedRequest.ts'
export { storedHeaders } from './view.ts'
