export { type CounterChange, forgetRefusal, lastRefusal, SEES_RESTORED, updateCounters } from './counters.ts'
export * from './dataKeys.ts'
export { checkDedupe, type Dedupe, type DedupeSettings, dedupeSettings, storedDedupe } from './dedupe.ts'
export * from './find.ts'
export { learnSigningSecret } from './learnSigningSecret.ts'
export {
  applyEndpointLimit,
  countLiveEndpoints,
  type EndpointRow,
  findEndpoint,
  insertEndpoint,
  lockVerification,
  markEndpointDeleted,
  updateEndpoint,
} from './queries.ts'
export * from './responseRules.ts'
export {
  ANSWER_LIMITS,
  type Counted,
  checkFallback,
  checkResponses,
  forgetUses,
  type PreparedResponse,
  preparedResponses,
  responsesText,
  type ScriptedResponses,
  servedAnswer,
  storedAnswerFrom,
  takeUse,
} from './responses.ts'
export {
  type CreateInput,
  createInput,
  DEFAULT_RESPONSE,
  Endpoint,
  rotateUrlInput,
  type UpdateInput,
  updateInput,
} from './schema.ts'
export { asSpelled, checkPaths, settingsColumns } from './settings.ts'
export {
  checkOriginal,
  checkStoring,
  conditionWarnings,
  DropHeaders,
  ORIGINAL_HOURS,
  preparedStoring,
  StoreRulesInput,
  type StoringInput,
  storedStoring,
  storingOf,
  type TakenOut,
  takenOutOf,
} from './storing.ts'
export { captureUrlOf, endpointView, requestUrlOf, storedSettings } from './view.ts'
