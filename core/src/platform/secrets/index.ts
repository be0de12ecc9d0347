export { openBytes, sealBytes } from './gcm.ts'
export { type Resealed, resealTable, type SealedTable, sealedTable } from './reseal.ts'
export {
  bodyBytesOf,
  type DataKeyRef,
  isShredded,
  keyOfRow,
  newDataKey,
  openDataKey,
  openingRows,
  partColumns,
  type SealedMembers,
  sealBody,
  sealedAs,
  sealedColumns,
  sealedKeyOf,
  sealedMembers,
  sealedPart,
  sealMembers,
  sealNote,
} from './sealedRows.ts'
export {
  checkSecretKey,
  createSecretBox,
  hasSealedSecrets,
  resealSample,
  type SecretBox,
} from './secretBox.ts'
