export { checkSecretKey, hasSealedSecrets, resealSample } from './keyCheck.ts'
export { RESEAL_ROWS, type Resealed, resealedColumns } from './reseal.ts'
export { createSecretBox, type SecretBox } from './secretBox.ts'
