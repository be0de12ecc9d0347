export { checkSecretKey, hasSealedSecrets, resealSample } from './keyCheck.ts'
export { type Resealed, resealTable, type SealedTable, sealedTable } from './reseal.ts'
export {
  bodyBytesOf,
  type DataKeyRef,
  isShredded,
  keyOfRow,
  newDataKey,
  openBytes,
  openDataKey,
  openingRows,
  type SealedMembers,
  sealBody,
  sealBytes,
  sealedAs,
  sealedColumns,
  sealedKeyOf,
  sealedMembers,
  sealMembers,
} from './sealedRows.ts'

export { createSecretBox, type SecretBox } from './secretBox.ts'
