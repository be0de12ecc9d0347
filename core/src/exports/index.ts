export { isCredentialName, MASK } from './credentials.ts'
