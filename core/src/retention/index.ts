export { holdByteBounds, NEARLY_FULL, sweepBytes } from './byteBounds.ts'
export {
  ENDPOINT_SWEEP,
  RETENTION_SWEEP,
  STATISTICS,
  STORAGE_SWEEP,
  storageBytes,
  storageMaxBytes,
} from './declarations.ts'
export { eraseRequests, reduceRequests } from './purge.ts'
export { removeAttempts, removeRecords } from './removal.ts'
export { analyzeOutgrown, readStorage, readStorageOf } from './storedBytes.ts'
export { sweepEndpoints } from './sweepEndpoints.ts'
export { sweepRetention } from './sweepRetention.ts'
