export { inSlices, slices } from './slices.ts'
export { type EndTurn, LineTooLong, type TurnLimits, Turns, WAIT_MS_MAX, type WorkOptions } from './turns.ts'
