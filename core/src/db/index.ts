export { checkDatabase } from './check.ts'
export { type Db, type OpenDatabase, onConnection, openDatabase, type Trx } from './open.ts'
export type * from './tables.ts'
