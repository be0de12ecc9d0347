import { sql } from 'kysely'
import { LineTooLong } from '../turns/index.ts'
import type { Db } from './statement.ts'

/** `query_canceled`: PostgreSQL ended the statement, at its time limit or on request. */
const QUERY_CANCELED = '57014'

/**
 * Connection exceptions, operator interventions, a database that takes no writes, a session that was ended because it
 * idled or its transaction took too long, a disk or memory that is full, "too many connections", and the errors of a
 * login only: no such role, no such database (PostgreSQL, appendix A, error codes).
 */
const OUTAGE = /^(08...|57P0[1-5]|25006|25P0[34]|53[1-3]00|28...|3D000)$/
/** Another error of a login, under a code that queries may end with, too. */
const CLOSED_DATABASE = /^database ".*" is not currently accepting connections$/s

/** Errors of a connection, and of a name server that does not answer. */
const SOCKET_FAILURES: ReadonlySet<string | undefined> = new Set([
  'EADDRNOTAVAIL',
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
])

/** Messages of node-postgres when a connection ends, cannot be opened or stays silent; these errors have no code. */
const DRIVER_WORDS =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error|Client was closed)/

/** Whether PostgreSQL ended a statement at its time limit; false when it was cancelled because its caller hung up. */
export function isStatementTimeout(error: unknown): boolean {
  return codeOf(error) === QUERY_CANCELED && String(messageOf(error)).includes('statement timeout')
}

/** `read_only_sql_transaction`: a standby, or a database that was made read-only. */
const READ_ONLY = '25006'

/** Whether a server refused a statement because it takes no writes: another one may be the primary by now. */
export function isReadOnly(error: unknown): boolean {
  return codeOf(error) === READ_ONLY
}

/** Whether a query failed because the database is unreachable or takes no writes, and not because of the query. */
export function isDatabaseOutage(error: unknown): boolean {
  const code = codeOf(error)
  if (code !== undefined && OUTAGE.test(code)) return true
  const message = String(messageOf(error))
  if (DRIVER_WORDS.test(message) || CLOSED_DATABASE.test(message)) return true
  // Outbound sends return results and never throw these.
  return SOCKET_FAILURES.has(code)
}

/** `deadlock_detected`: PostgreSQL ended one of the transactions that waited for each other. */
const DEADLOCK = '40P01'

/** Whether a transaction was ended so that another one could go on. It succeeds when it is run again. */
export function isDeadlock(error: unknown): boolean {
  return codeOf(error) === DEADLOCK
}

/** Transactions that were rolled back, lack of resources, locks that were not free, interventions, errors of the system. */
const PASSING = /^(40...|53...|55P03|57...|58...)$/

/**
 * Whether a statement failed because of the circumstances, or got no connection in time: it may succeed when it is run
 * again as it is.
 */
export function isPassing(error: unknown): boolean {
  return isDatabaseOutage(error) || error instanceof LineTooLong || PASSING.test(codeOf(error) ?? '')
}

/**
 * Whether a run is to go on after an error, when its lease has ended. A statement that takes too long does so again.
 */
export function isWorthAnotherLease(error: unknown): boolean {
  return isPassing(error) && !isStatementTimeout(error)
}

/** Data exceptions, violated constraints, and limits of a statement or a value. */
const REFUSALS = /^(22...|23...|54...)$/

/**
 * Whether a statement failed because of its content, so that it would fail again. Errors of our own code, which have no
 * code, are such ones.
 */
export function isRefusedForGood(error: unknown): boolean {
  const code = codeOf(error)
  return code === undefined ? !isDatabaseOutage(error) : REFUSALS.test(code)
}

/** The code of PostgreSQL, or of the operating system. */
export function codeOf(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}

function messageOf(error: unknown): unknown {
  return error instanceof Error ? error.message : undefined
}

/** Checks that the database answers and takes writes. @throws PostgreSQL's or the driver's error when it does not */
export async function checkDatabase(db: Db): Promise<void> {
  await sql`do $$ begin
    if pg_is_in_recovery() or current_setting('transaction_read_only')::bool
      then raise read_only_sql_transaction using message = 'The database takes no writes.';
    end if;
  end $$`.execute(db)
}

/** Errors of independent pieces of work, of which one must not end the others. */
export class Failures {
  readonly #errors: unknown[] = []

  /** The result of a piece; undefined if it failed. @throws while the database is unreachable, as all would fail */
  async unless<Result>(piece: () => Promise<Result>): Promise<Result | undefined> {
    try {
      return await piece()
    } catch (error) {
      if (isDatabaseOutage(error)) throw error
      this.#errors.push(error)
      return undefined
    }
  }

  /** @throws the error of the only piece that failed, or an AggregateError of several */
  throwAny(): void {
    if (this.#errors.length === 1) throw this.#errors[0]
    if (this.#errors.length > 1)
      throw new AggregateError(this.#errors, `${this.#errors.length} pieces of work failed.`)
  }
}
