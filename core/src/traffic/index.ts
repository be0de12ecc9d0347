export { sweepRejections } from './sweep.ts'
