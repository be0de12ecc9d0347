export { inSlices, slices } from './slices.ts'
export { type EndTurn, LineTooLong, PATIENCE_MS, type TurnLimits, Turns, type WorkOptions } from './turns.ts'
