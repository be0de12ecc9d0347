export {
  BODY_KINDS,
  type BodyOf,
  bodyStructure,
  isBase64,
  isLabelledForm,
  isLabelledMultipart,
  isUnlabelled,
  JSON_DEPTH_MAX,
  NOT_BASE64,
  textOf,
} from './bodyFormat.ts'
export * from './capturedRequest.ts'
export {
  asRead,
  DECODING_FAULTS,
  decodedBody,
  lookedAtBytesMax,
  readBytesMax,
  withoutEncoding,
} from './contentEncoding.ts'
export {
  ByHeaderName,
  forwardableHeaders,
  httpDate,
  joinedHeaders,
  shownFields,
  storedHeaders,
  valuesByName,
  wireField,
} from './headers.ts'
export {
  decodeComponent,
  formBody,
  jsonBody,
  keepJson,
  kindOfBody,
  multipartFields,
  PARSED_BODY_BYTES_MAX,
  parsedBody,
  partName,
  takeJson,
  urlEncodedPair,
  urlEncodedPairs,
} from './parsedBody.ts'

export { leavesBasePath, type Target, targetUrl } from './targetUrl.ts'
