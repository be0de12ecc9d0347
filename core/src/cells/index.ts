export { type Cell, type CellPlace, CellsFileError, parseCells } from './cell.ts'
export { cellOfId, cellOfKey, keyHint, newId } from './hints.ts'
export { cellNameOf, checkCellName } from './nameCheck.ts'
