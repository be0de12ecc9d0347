export { abortMove, MoveError, moveWorkspace, purgeMoved } from './move.ts'
export { findMove, listMoves, type Move } from './state.ts'
export { BIG, LEFT, movedTables } from './tables.ts'
