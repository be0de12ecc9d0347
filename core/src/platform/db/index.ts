export * from './binaryArrays.ts'
export * from './failures.ts'

export * from './open.ts'
export * from './pipeline.ts'
export { type ReadDatabase, type Reads, type ReplicaState, readsOf, readsWithReplica } from './replica.ts'
export { databaseUrlMistake, serverOf, serverUrls } from './servers.ts'
export {
  columnsOf,
  countOf,
  type Db,
  parameters,
  type RowsOf,
  run,
  type Statement,
  statement,
  storable,
  type Trx,
  valuesOf,
} from './statement.ts'

export type * from './tables.ts'
