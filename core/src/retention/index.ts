export { sweepEndpoints } from './sweepEndpoints.ts'
export { sweepRetention } from './sweepRetention.ts'
