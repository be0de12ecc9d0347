export { openBytes, sealBytes } from './gcm.ts'
export * from './reseal.ts'
export * from './sealedRows.ts'
export * from './secretBox.ts'
