export { holdByteBounds, NEARLY_FULL, sweepBytes } from './byteBounds.ts'
export { readStorage, readStorageOf } from './storedBytes.ts'
export { sweepEndpoints } from './sweepEndpoints.ts'
export { sweepRetention } from './sweepRetention.ts'
