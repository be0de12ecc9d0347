export { inSlices, slices } from './slices.ts'
export { Turns } from './turns.ts'
