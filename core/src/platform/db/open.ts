import { CamelCasePlugin, Kysely, PostgresDialect, type PostgresPool } from 'kysely'
import pg from 'pg'
import type { Db } from './handles.ts'
import { preparing } from './statement.ts'
import type { Database } from './tables.ts'

/** One process's way to Postgres: Kysely for everything, the raw pool for the capture statement and pg-boss. */
export interface OpenDatabase {
  readonly db: Db
  readonly pool: pg.Pool
  close(): Promise<void>
}

const INT8 = 20

/**
 * A page costs the same wherever it lies, as it does in memory and nearly does on an SSD. Without statistics PostgreSQL takes
 * every row for one on a page of its own; with its default of four times the cost for such a page it then reads a whole
 * endpoint through a bitmap and sorts it, where walking the primary key in order ends after a page of a list.
 */
const PLANNER_SETTINGS = 'set random_page_cost = 1'

/**
 * Opens a pool. No connection is made until the first query.
 *
 * int8 arrives as a number: every id and count of ours stays below 2^53 (CONTRACT §0.3).
 *
 * @param url a `postgres://` URL; a unix socket as `?host=/folder`
 * @param maxConnections the most connections that the pool holds at once
 */
export function openDatabase(url: string, maxConnections = 16): OpenDatabase {
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    onConnect: (client) => client.query(PLANNER_SETTINGS),
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === INT8 && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format),
    },
  })
  // An idle connection that Postgres ends must not end us: the next query opens another.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    // Nor one that is in use: its query fails, and that is told to whoever asked. Without a listener it would end us.
    client.on('error', () => {})
    client.query = preparing(client.query)
  })
  const db = kyselyOver(pool)
  return { db, pool, close: () => db.destroy() }
}

/**
 * Kysely on one connection that its caller holds: for transactions that also run statements which Kysely cannot
 * prepare. Never to be destroyed: the connection stays its caller's.
 */
export function onConnection(client: pg.PoolClient): Db {
  return kyselyOver({
    connect: async () => ({ query: client.query.bind(client), release: () => {} }),
    end: async () => {},
    options: {},
  })
}

function kyselyOver(pool: PostgresPool): Db {
  return new Kysely<Database>({
    dialect: new PostgresDialect({ pool }),
    plugins: [new CamelCasePlugin({ maintainNestedObjectKeys: true })],
  })
}
