export { evictedRequests, SEARCH_PAGES } from './declarations.ts'
export { applyFilters } from './filters.ts'
export { findContent, findsRequest, requestView } from './find.ts'
export { newestRequestId } from './followQueries.ts'
export { newestMatching, searchHistory, searchNewest } from './history.ts'
export { countLong, inTurn, SHORT_BODY, withLongBodies } from './longReads.ts'
export { fillColumns } from './newest.ts'
export { forgetNotes } from './note.ts'
export {
  findAnswer,
  findOriginals,
  forgetAllOriginals,
  forgetKeptAnswers,
  forgetNextOriginals,
  forgetOriginals,
  hasOriginal,
  insertOriginals,
  keepAnswer,
  nextKeptAnswers,
  type Original,
  originalBytesOf,
  SEALED_ORIGINAL_KEYS,
  sweepOriginals,
} from './originals.ts'
export { previewing } from './previewing.ts'
export {
  capturedEventIds,
  findReplayable,
  findReplayableIds,
  lockCounters,
  type RequestRow,
  requestsWithHeaders,
  visibleRequests,
} from './queries.ts'
export { readRequest } from './reads.ts'
export {
  DecodedBody,
  filterInput,
  issuesOfRequestIds,
  Note,
  RequestDetail,
  type RequestFilters,
  requestIdsInput,
  requestIdsOf,
} from './schema.ts'
export { type Sealing, sealedRow, sealedRowInSteps, sealNext } from './sealStored.ts'
export { SEARCHED_BODY_BYTES } from './search.ts'
export { searching } from './searching.ts'
export { forgetPaged, makeSearchPages } from './searchPages/index.ts'
export { shapeOf } from './shape.ts'
export { outcomeOf, sendsRequest } from './state.ts'
export {
  measuredBytes,
  requestStorageBytes,
  type StoredParts,
  storageBytesOf,
  TRACE_STORAGE_BYTES,
} from './storageBytes.ts'
export {
  keysOfRequests,
  STORED_REQUEST_COLUMNS,
  type StoredRequestRow,
  storedRequest,
} from './storedRequest.ts'
export { decodedView, redactionView } from './view.ts'
