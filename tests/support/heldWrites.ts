import type { Db, Trx } from '@creel/core'
import { sql } from 'kysely'
import { eventually } from './eventually.ts'

/** Advisory lock for which the writes wait. */
const LOCK = 4711

type Write =
  | 'insert on actions'
  | 'insert on requests'
  | 'update on deliveries'
  | 'update on delivery_attempts'
  | 'update on workspaces'
  | 'delete on workspaces'

/** Holds up writes to a table, those of rows `old` and `new` with `condition`, until it is released. */
export async function holdUpWrites(db: Db, write: Write, condition = 'true') {
  await sql
    .raw(
      `create function hold_up() returns trigger language plpgsql as
        'begin perform pg_advisory_xact_lock_shared(${LOCK}); return coalesce(new, old); end';
      create trigger hold_up before ${write} for each row when (${condition}) execute function hold_up()`,
    )
    .execute(db)
  const lock = holdOpen(db, (trx) => sql`select pg_advisory_xact_lock(${LOCK})`.execute(trx))
  await lock.isOpen
  const waiting = async () =>
    (
      await sql<{ pid: number }>`select l.pid from pg_locks l join pg_database d on d.oid = l.database
        where l.locktype = 'advisory' and l.objid = ${LOCK} and not l.granted and d.datname = current_database()`.execute(
        db,
      )
    ).rows
  const release = async () => {
    await lock.release()
    await sql.raw('drop function if exists hold_up cascade').execute(db)
  }
  return {
    arrived: () => eventually('a write that is held up', async () => (await waiting()).length > 0),
    /** Ends the sessions whose writes are held up, as a server that fails does. */
    async breakOff() {
      for (const { pid } of await waiting()) await sql`select pg_terminate_backend(${pid})`.execute(db)
    },
    release,
    [Symbol.asyncDispose]: release,
  }
}

/** Opens a transaction that writes or locks, until it is released. */
export function holdOpen(db: Db, work: (trx: Trx) => Promise<unknown>) {
  const [isOpen, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = db.transaction().execute(async (trx) => {
    // The session of a service would be ended while the transaction waits for the test.
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(trx)
    await work(trx)
    isOpen.resolve()
    await mayEnd.promise
  })
  const release = async () => {
    mayEnd.resolve()
    await holding
  }
  return { isOpen: isOpen.promise, release, [Symbol.asyncDispose]: release }
}
