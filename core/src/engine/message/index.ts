export {
  type CapturedRequest,
  type EvaluatedRequest,
  headerText,
  headerValues,
  type Verdict,
  type Verification,
  type WireHeader,
} from './capturedRequest.ts'
export { forwardableHeaders } from './forwardableHeaders.ts'
export { multipartFields } from './multipart.ts'
export {
  type FormValue,
  formBody,
  jsonBody,
  mediaType,
  PARSED_BODY_BYTES_MAX,
  type ParsedBody,
  parsedBody,
} from './parsedBody.ts'
export { joinedHeaders, storedHeaders, valuesByName } from './storedHeaders.ts'
export { urlEncodedPairs } from './urlEncoded.ts'
