export { isCredentialName, MASK } from '../engine/credentials.ts'
export { isImporting } from './importQueries.ts'
export { IMPORT_SWEEP, sweepImports } from './storeImport.ts'
