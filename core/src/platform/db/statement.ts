import { CompiledQuery, type PostgresPool, type UnknownRow } from 'kysely'
import type { ClientBase } from 'pg'
import type { Db } from './handles.ts'
import { memberNames } from './memberNames.ts'

/** A statement whose text never changes: every connection parses it once, and plans it a few times only. */
export interface Statement {
  /** Begins with its name in a comment, so that the logs of PostgreSQL show it. */
  readonly text: string
}

/** The names of all statements by their texts. */
const names = new Map<string, string>()

/**
 * Names a statement of a hot path: for short statements, planning takes longer than running.
 *
 * @param name unique in the program
 * @param text with `$1`…; whatever varies must be a parameter, since each text stays in every connection
 */
export function statement(name: string, text: string): Statement {
  const named = `/* ${name} */ ${text}`
  names.set(named, name)
  return { text: named }
}

/** Where statements run that are not part of a transaction. */
const pools = new WeakMap<Db, PostgresPool>()

/** Says what the connections of a handle are taken from. */
export function runOn(db: Db, pool: PostgresPool): void {
  pools.set(db, pool)
}

/**
 * Runs a statement on a pool, or in a transaction, as any query: rows arrive with their members in camelCase. On a pool it goes
 * past Kysely, which would take as long for it as the driver does.
 *
 * @param values as node-postgres takes them; a Buffer goes in binary form, e.g. an array of {@link encodeArray}
 */
export async function run<Row>(
  db: Db,
  { text }: Statement,
  values: readonly unknown[],
): Promise<readonly Row[]> {
  const pool = pools.get(db)
  if (pool === undefined) return (await db.executeQuery<Row>(CompiledQuery.raw(text, [...values]))).rows
  const connection = await pool.connect()
  try {
    const { rows } = await connection.query<UnknownRow>(text, values)
    // What its rows hold is what the caller says of the statement, here as with Kysely.
    return memberNames.mapRows(rows) as Row[]
  } finally {
    connection.release()
  }
}

/**
 * A connection's `query` that prepares {@link statement}s: Kysely hands over texts without names. A Proxy, because it
 * keeps all the ways in which node-postgres' `query` can be called.
 */
export function preparing(query: ClientBase['query']): ClientBase['query'] {
  return new Proxy(query, {
    apply(target, client, [text, ...others]) {
      const name = typeof text === 'string' ? names.get(text) : undefined
      return Reflect.apply(target, client, [name === undefined ? text : { name, text }, ...others])
    },
  })
}
