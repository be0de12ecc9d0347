export { sweepRejections } from './queries.ts'
