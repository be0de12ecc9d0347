export { atOnce, inSlices, slices } from './slices.ts'
export { type EndTurn, LineTooLong, Turns, WAIT_MS_MAX, type WorkOptions } from './turns.ts'
