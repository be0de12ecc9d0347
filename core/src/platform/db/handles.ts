import type { Kysely, Transaction } from 'kysely'
import type { Database } from './tables.ts'

/** For reads: works inside and outside a transaction. */
export type Db = Kysely<Database>

/** For writes and locks: functions that take a `Trx` cannot be called outside a transaction. */
export type Trx = Transaction<Database>
