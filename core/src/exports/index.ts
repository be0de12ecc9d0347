export { isCredentialName, MASK } from '../engine/credentials.ts'
export { IMPORT_SWEEP, sweepImports } from './storeImport.ts'
