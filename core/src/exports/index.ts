export { isCredentialName, MASK } from '../engine/credentials.ts'
export { acceptedImports, isAnyUnstored, isImporting } from './importQueries.ts'
export { IMPORT_SWEEP, sweepImports } from './storeImport.ts'
