export { checkSecretKey } from './keyCheck.ts'
export { createSecretBox, type SecretBox } from './secretBox.ts'
