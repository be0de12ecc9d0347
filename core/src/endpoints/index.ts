export { type CounterChange, updateCounters } from './counters.ts'
export {
  destroyDataKey,
  ensureDataKey,
  findDataKey,
  SEALED_DATA_KEYS,
  shreddedEndpointOf,
  shredSignal,
} from './dataKeys.ts'
export { checkDedupe, type Dedupe, type DedupeSettings, dedupeSettings, storedDedupe } from './dedupe.ts'
export { checkEventIdPath } from './eventIdPath.ts'
export {
  EndpointReference,
  endpointIdOf,
  findsEndpoint,
  findsNamedEndpoint,
  namedEndpointOf,
} from './find.ts'
export { learnSigningSecret } from './learnSigningSecret.ts'
export { applyEndpointLimit } from './planLimit.ts'
export {
  countLiveEndpoints,
  type EndpointRow,
  findEndpoint,
  insertEndpoint,
  markEndpointDeleted,
  updateEndpoint,
} from './queries.ts'
export { SEALED_ENDPOINTS } from './reseal.ts'
export {
  type CaptureResponse,
  checkResponse,
  OWN_ANSWER_HEADERS,
  RESPONSE_LIMITS,
  type ReceivedResponse,
  relayedResponse,
  type ServedResponse,
  safeResponse,
} from './responseRules.ts'
export {
  type AnswerFrom,
  checkFallback,
  checkResponses,
  type PreparedResponse,
  preparedResponses,
  responsesText,
  type ScriptedResponses,
  servedAnswer,
  storedAnswerFrom,
} from './responses.ts'
export { type Counted, forgetUses, takeUse } from './responseUses.ts'
export {
  type CreateInput,
  createInput,
  DEFAULT_RESPONSE,
  Endpoint,
  rotateUrlInput,
  type UpdateInput,
  updateInput,
} from './schema.ts'
export { settingsColumns } from './settings.ts'
export {
  checkOriginal,
  checkStoring,
  DropHeaders,
  ORIGINAL_HOURS,
  preparedStoring,
  StoreRulesInput,
  type StoringInput,
  storingOf,
} from './storing.ts'
export { captureUrlOf, endpointView, type StoredVerification, storedSettings } from './view.ts'
