export { type Cells, createCells } from './cells.ts'
export { routedCaptures } from './routedCaptures.ts'
export { knownInCells, routedFetch } from './routedFetch.ts'
