import { CompiledQuery, type PostgresPool, type UnknownRow } from 'kysely'
import type { ClientBase } from 'pg'
import type { Db } from './handles.ts'
import { memberNames } from './memberNames.ts'

/** A statement whose text never changes. Every connection parses it once and plans it only a few times. */
export interface Statement {
  /** Begins with its name in a comment, for the logs of PostgreSQL. */
  readonly text: string
}

/** The names of all statements by their texts. */
const names = new Map<string, string>()

/**
 * Names a statement of a hot path: for short statements, planning takes longer than running.
 *
 * @param name unique in the program
 * @param text with `$1`…; every variable part must be a parameter, since each text stays in every connection
 */
export function statement(name: string, text: string): Statement {
  const named = `/* ${name} */ ${text}`
  names.set(named, name)
  return { text: named }
}

/** Pools for statements that are not part of a transaction, by handle. */
const pools = new WeakMap<Db, PostgresPool>()

/** Sets the pool of a handle. */
export function runOn(db: Db, pool: PostgresPool): void {
  pools.set(db, pool)
}

/**
 * Runs a statement on a pool, or in a transaction. Rows have members in camelCase, as with Kysely. On a pool it
 * bypasses Kysely, which would take as long as the driver.
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
    // The caller gives the type of the rows, as with Kysely.
    return memberNames.mapRows(rows) as Row[]
  } finally {
    connection.release()
  }
}

/**
 * A connection's `query` that prepares {@link statement}s, which Kysely passes without their names. It is a Proxy in
 * order to keep all overloads of node-postgres' `query`.
 */
export function preparing(query: ClientBase['query']): ClientBase['query'] {
  return new Proxy(query, {
    apply(target, client, [text, ...others]) {
      const name = typeof text === 'string' ? names.get(text) : undefined
      return Reflect.apply(target, client, [name === undefined ? text : { name, text }, ...others])
    },
  })
}
