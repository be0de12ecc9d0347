export { checkSecretKey, hasSealedSecrets, resealSample } from './keyCheck.ts'
export { type Resealed, resealTable, type SealedTable, sealedTable } from './reseal.ts'
export { newDataKey, openBytes, sealBytes } from './sealedBytes.ts'
export {
  bodyBytesOf,
  type DataKeyRef,
  isShredded,
  keyOfRow,
  openDataKey,
  openingRows,
  type SealedMembers,
  sealBody,
  sealedAs,
  sealedColumns,
  sealedKeyOf,
  sealedMembers,
  sealMembers,
} from './sealedRows.ts'
export { createSecretBox, type SecretBox } from './secretBox.ts'
