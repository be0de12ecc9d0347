export { isCredentialName, MASK } from '../engine/credentials.ts'
export { IMPORT_SWEEP } from './jobs.ts'
export { sweepImports } from './storeImport.ts'
