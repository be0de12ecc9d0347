export { isCredentialName, MASK } from '../engine/credentials.ts'
export { sweepImports } from './storeImport.ts'
