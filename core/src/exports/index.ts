export { isCredentialName, MASK } from '../engine/credentials.ts'
