import {
  type AbortableQueryOptions,
  CompiledQuery,
  type Kysely,
  type PostgresPool,
  type SelectQueryBuilder,
  type Transaction,
  type UnknownRow,
} from 'kysely'
import type { ClientBase } from 'pg'
import { isStorable } from '../../engine/issues.ts'
import { memberNames, type SealedRows } from './memberNames.ts'
import type { StatementRows } from './rows.ts'
import type { Database } from './tables.ts'

/** For reads: works inside and outside a transaction. */
export type Db = Kysely<Database>

/** For writes and locks: functions that take a `Trx` cannot be called outside a transaction. */
export type Trx = Transaction<Database>

/** A statement whose text never changes, apart from its parameters. */
export interface Statement<Name extends string = string> {
  readonly name: Name
  /** Begins with its name in a comment, for the logs of PostgreSQL. */
  readonly text: string
  /** Whether every connection parses it once and plans it only a few times. */
  readonly isPrepared: boolean
  readonly isDescribed: boolean
  /** Members that are never null although PostgreSQL cannot tell. {@link run} checks every row. */
  readonly notNull: readonly string[]
}

/** Rows of a statement, as PostgreSQL describes them; of unknown columns if it is not described. */
export type RowOf<Name extends string> = Name extends keyof StatementRows ? StatementRows[Name] : UnknownRow

/** Rows of a declared statement, by its type: `RowsOf<typeof FIND_ENDPOINT>`. */
export type RowsOf<Of extends Statement> = RowOf<Of['name']>

/** All statements by their texts. */
const declared = new Map<string, Statement>()

/**
 * Declares a statement. `bun scripts/rowTypes.ts` asks PostgreSQL for the types of its rows.
 *
 * @param name unique in the program
 * @param text with `$1`…; every variable part must be a parameter, since each text stays in every connection
 * @param options `isPrepared`: true by default, for hot paths, where planning takes longer than running; else it is
 *   planned for the values of each run. `isDescribed`: false for a text that only the running program knows. `notNull`:
 *   names of members that are never null although PostgreSQL cannot tell
 */
export function statement<const Name extends string>(
  name: Name,
  text: string,
  {
    isPrepared = true,
    isDescribed = true,
    notNull = [],
  }: Partial<Pick<Statement, 'isPrepared' | 'isDescribed' | 'notNull'>> = {},
): Statement<Name> {
  const made = { name, text: `/* ${name} */ ${text}`, isPrepared, isDescribed, notNull }
  declared.set(made.text, made)
  return made
}

/** The statements of all modules that are loaded, except those that are not described. */
export function declaredStatements(): readonly Statement[] {
  return [...declared.values()].filter(({ isDescribed }) => isDescribed)
}

/** The handle of a workspace, on its share of the connections. */
export type Share = (workspaceId: string) => Db

/** Pools for statements that are not part of a transaction, what opens their rows, and shares. Kysely's handles hide them. */
export const poolsOf = new WeakMap<Db, { pool: PostgresPool; sealed: SealedRows; share: Share | undefined }>()

/**
 * Runs a statement on a pool, or in a transaction. Rows have members in camelCase, as with Kysely. On a pool it
 * bypasses Kysely, which would take as long as the driver.
 *
 * @param values as node-postgres takes them; a Buffer goes in binary form, e.g. an array of {@link encodeArray}
 * @param options cancel it when the caller hangs up
 * @throws TypeError if a member of `notNull` is null
 */
export async function run<Name extends string>(
  db: Db,
  of: Statement<Name>,
  values: readonly unknown[],
  options?: AbortableQueryOptions,
): Promise<readonly RowOf<Name>[]> {
  const own = options === undefined ? poolsOf.get(db) : undefined
  if (own === undefined) {
    const { rows } = await db.executeQuery<RowOf<Name>>(CompiledQuery.raw(of.text, [...values]), options)
    return checked(of, rows)
  }
  const connection = await own.pool.connect()
  try {
    const { rows } = await connection.query<UnknownRow>(of.text, values)
    const mapped = memberNames.mapRows(rows)
    own.sealed.open(mapped)
    // PostgreSQL has described the rows of this text: rows.ts.
    return checked(of, mapped as RowOf<Name>[])
  } finally {
    connection.release()
  }
}

function checked<Row extends object>({ name, notNull }: Statement, rows: readonly Row[]): readonly Row[] {
  if (notNull.length === 0) return rows
  for (const row of rows)
    for (const [member, value] of Object.entries(row))
      if (value === null && notNull.includes(member))
        throw new TypeError(`${member} of the statement "${name}" is null.`)
  return rows
}

/** A text with U+FFFD in place of NUL, the one character that PostgreSQL's text cannot hold, and of half surrogate pairs. */
export function storable(text: string): string {
  return isStorable(text) ? text : text.toWellFormed().replaceAll('\0', '\ufffd')
}

/** The number of rows of a query that has selected nothing yet. */
export async function countOf<DB, Tables extends keyof DB>(
  query: SelectQueryBuilder<DB, Tables, object>,
): Promise<number> {
  const { count } = await query
    .select((of) => of.fn.countAll<number>().as('count'))
    .$castTo<{ readonly count: number }>()
    .executeTakeFirstOrThrow()
  return count
}

/** The values of one member, in the order of the rows. */
export const valuesOf = <Row, Name extends keyof Row>(rows: readonly Row[], member: Name): Row[Name][] =>
  rows.map((row) => row[member])

/** Parameters for `unnest`: of each member the values of all rows. */
export function columnsOf<Row>(rows: readonly Row[], ...members: readonly (keyof Row)[]) {
  return members.map((member) => valuesOf(rows, member))
}

/**
 * A connection's `query` that prepares {@link statement}s, which Kysely passes without their names. It is a Proxy in
 * order to keep all overloads of node-postgres' `query`.
 */
export function preparing(query: ClientBase['query']): ClientBase['query'] {
  return new Proxy(query, {
    apply(target, client, [text, ...others]) {
      const known = typeof text === 'string' ? declared.get(text) : undefined
      const query = known?.isPrepared === true ? { name: known.name, text } : text
      return Reflect.apply(target, client, [query, ...others])
    },
  })
}

export interface NamedParameters<Name extends string> {
  /** SQL for a parameter: `$1`, `$2`… */
  of(name: Name): string
  /** The values in the order of the parameters. */
  values(given: Readonly<Record<Name, unknown>>): unknown[]
}

/** Numbers the parameters of a statement in this order, so that its text names them. */
export function parameters<const Name extends string>(names: readonly Name[]): NamedParameters<Name> {
  const numbers = new Map(names.map((name, index) => [name, index + 1]))
  return {
    of(name) {
      const number = numbers.get(name)
      if (number === undefined) throw new TypeError(`The statement has no parameter ${name}.`)
      return `$${number}`
    },
    values: (given) => names.map((name) => given[name]),
  }
}
