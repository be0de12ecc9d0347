export { countPiece } from './pieces.ts'
