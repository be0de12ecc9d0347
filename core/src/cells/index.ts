export { type Cell, type CellPlace, CellsFileError, cellUp, parseCells } from './cell.ts'
export { cellNameOf, checkCell } from './checkCell.ts'
export { cellOfId, cellOfKey, keyHint, newId } from './hints.ts'
export {
  abortMove,
  findMove,
  listMoves,
  type Move,
  MoveError,
  moveWorkspace,
  purgeMoved,
} from './move/index.ts'
