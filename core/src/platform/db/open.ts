import {
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
} from 'kysely'
import pg, { type PoolClient } from 'pg'
import { setNewest } from '../memory/index.ts'
import { within } from '../time/index.ts'
import { Turns, WAIT_MS_MAX } from '../turns/index.ts'
import { isReadOnly } from './failures.ts'
import { memberNames, type OpenRows, SealedRows } from './memberNames.ts'
import { serverOf } from './servers.ts'
import { type Db, poolsOf, preparing, type Share } from './statement.ts'
import type { Database } from './tables.ts'

/**
 * PostgreSQL dialect for queries that are cancelled when their caller hangs up. By default Kysely prints the error of
 * such a query to the console. Here it is dropped, since the cancellation was requested.
 */
class CancellingDialect extends PostgresDialect {
  /** Connections that leave quietly already: the driver gives each again, and has no place for a mark. */
  readonly #known = new WeakSet<DatabaseConnection>()

  override createDriver(): Driver {
    const driver = super.createDriver()
    const acquire = driver.acquireConnection.bind(driver)
    driver.acquireConnection = async (options) => {
      const connection = await acquire(options)
      if (!this.#known.has(connection)) leaveQuietly(connection)
      this.#known.add(connection)
      return connection
    }
    return driver
  }
}

/** Drops errors of a query whose caller is gone, and errors of cancelling it. Other errors are thrown as before. */
function leaveQuietly(connection: DatabaseConnection): void {
  const execute = connection.executeQuery.bind(connection)
  connection.executeQuery = async (query, options) => {
    try {
      return await execute(query, options)
    } catch (error) {
      if (options?.signal?.aborted !== true) throw error
      return { rows: [] }
    }
  }
  const cancel = connection.cancelQuery?.bind(connection)
  if (cancel === undefined) return
  // Kysely fails if the query ended while the cancelling connection was opened. Then there is nothing left to cancel.
  connection.cancelQuery = async (provider) => {
    await cancel(provider).catch(() => undefined)
  }
}

/**
 * Settings for statements that find every row by a key. Planning takes longer than running, so each is planned once, and
 * its plan must use the keys, even if the tables are empty at that moment.
 */
const PLAN_ONCE = Object.entries({ plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off', jit: 'off' })

/** SQL that applies them to a connection. */
export const PLAN_ONCE_ON_CONNECTION = PLAN_ONCE.map(([name, value]) => `set ${name} = ${value};`).join(' ')

/** SQL of one row for a FROM clause. Reading it applies them to all later statements of the transaction. */
export const PLAN_ONCE_FROM_HERE = `(
  select ${PLAN_ONCE.map(([name, value]) => `set_config('${name}', '${value}', true)`).join(', ')}) plan_once`

/** A process's access to Postgres: Kysely for everything, the raw pool for the capture statement and pg-boss. */
export interface OpenDatabase {
  readonly db: Db
  /**
   * For scans that a caller can make long. They have their own connections, so that a key check, a health check or a
   * capture never waits for a search. PostgreSQL ends a statement after {@link SEARCH_SECONDS}.
   */
  readonly searches: Db
  readonly pool: pg.Pool
  /** Lets all handles open sealed members of rows; without it, rows are read as they are stored. */
  openSealedWith(open: OpenRows): void
  /** Waits 5 s for queries under way: one of a database that hangs may have no end. */
  close(): Promise<void>
}

/** The most searches that one process runs at once, unless told. */
export const SEARCH_CONNECTIONS = 4

/** Statement timeout of searches. */
export const SEARCH_SECONDS = 15

/** Statement timeout of all other statements of a service, none of which should take a second. */
const STATEMENT_SECONDS = 60

/**
 * A connection without an answer for so much longer than PostgreSQL's own limit is lost: its packets may vanish without
 * an error, and nothing else would ever end the statement.
 */
const LATE_SECONDS = 5

/**
 * Limits of a session whose process is gone. A frozen one ends no transaction, nor does one on a lost machine, and the
 * rows that it has locked stay locked. Our transactions wait for PostgreSQL only, and for nothing else as long as a
 * statement may take. The keepalives find connections that the network has lost.
 */
const endingGone = (statementSeconds = STATEMENT_SECONDS) => [
  `idle_in_transaction_session_timeout = '${statementSeconds}s'`,
  'tcp_keepalives_idle = 15',
  'tcp_keepalives_interval = 5',
  'tcp_keepalives_count = 3',
]

/**
 * How times are written, and strings are read. The role or the database may have another style of times, which would not
 * be read as a time, or may let a backslash in a string escape.
 */
const NOTATION = ["datestyle = 'ISO'", 'standard_conforming_strings = on']

/** Applies them, and the notation, to a session of another pool. */
export async function endWhenGone(client: pg.ClientBase): Promise<void> {
  await client.query([...NOTATION, ...endingGone()].map(asSet).join(' '))
}

/**
 * SQL that lifts limits of the role or the database: a move waits in transactions and between them, for as long as the
 * other cell takes. PostgreSQL below 17 has no limit of a transaction.
 */
const WITHOUT_LIMITS = `select set_config(name, '0', false) from pg_settings
  where name in ('idle_in_transaction_session_timeout', 'idle_session_timeout', 'transaction_timeout');`

const asSet = (setting: string) => `set ${setting};`

/** Timeout for getting a connection. After it the caller gets an error that the database is unreachable. */
const CONNECT_SECONDS = 10

/**
 * Finds a connection that the network has lost while it idled, within 25 s: after the delay there is a probe a second,
 * and the tenth without an answer ends it. A statement under way is not found so; it has a limit of time.
 */
export const FINDING_LOST = { keepAlive: true, keepAliveInitialDelayMillis: 15_000 }

/**
 * Options of a pool. Idle connections are kept for longer than the minute between the runs of most sweeps. A new one
 * costs 100 ms of processor time until it has parsed and planned the statements of a delivery, and deliveries wait for
 * that.
 *
 * @param url a database, as {@link serverOf} reads it
 */
export const poolOf = (url: string) => ({ ...serverOf(url), ...FINDING_LOST, idleTimeoutMillis: 150_000 })

const INT8 = 20

/**
 * A page costs the same wherever it is, as it does in memory and nearly does on an SSD. Without statistics PostgreSQL
 * assumes that every row is on its own page. With the default, four times the cost for such a page, it reads a whole
 * endpoint through a bitmap and sorts it, although walking the primary key in order would end after one page of a list.
 */
const PLANNER = 'random_page_cost = 1'

/**
 * Opens a pool. No connection is made until the first query.
 *
 * int8 is read as a number: all our ids and counts stay below 2^53.
 *
 * @param url a `postgres://` URL; a unix socket as `?host=/folder`; several hosts as {@link serverOf} reads them
 * @param maxConnections the most connections that the pool holds at once
 * @param searchConnections the most searches that run at once
 * @param statementSeconds limit of a statement that is no search; 0: none, even if the database has one
 */
export function openDatabase(
  url: string,
  maxConnections = 16,
  searchConnections = SEARCH_CONNECTIONS,
  statementSeconds = STATEMENT_SECONDS,
): OpenDatabase {
  const pool = openPool(url, { max: maxConnections, statementSeconds })
  const searchPool = openPool(url, { max: searchConnections, statementSeconds: SEARCH_SECONDS })
  const sealed = new SealedRows()
  const over = (one: PostgresPool, share?: Share) => kyselyOver(one, sealed, share)
  const db = over(pool, sharing(pool, { max: maxConnections, noun: 'queries' }, over))
  const searches = over(
    searchPool,
    sharing(searchPool, { max: searchConnections, keptFree: 0, noun: 'searches' }, over),
  )
  return {
    db,
    searches,
    pool,
    openSealedWith: (open) => {
      sealed.open = open
    },
    close: async () => {
      await within(Promise.all([searches.destroy(), db.destroy()]), LATE_SECONDS * 1000)
    },
  }
}

function openPool(
  url: string,
  { max, statementSeconds }: { max: number; statementSeconds: number },
): pg.Pool {
  const limits = [PLANNER, ...NOTATION, `statement_timeout = '${statementSeconds}s'`]
  const ofKind = statementSeconds === 0 ? WITHOUT_LIMITS : endingGone(statementSeconds).map(asSet).join(' ')
  const settings = `${limits.map(asSet).join(' ')} ${ofKind}`
  const pool = new pg.Pool({
    ...poolOf(url),
    max,
    connectionTimeoutMillis: CONNECT_SECONDS * 1000,
    onConnect: (client) => client.query(settings),
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === INT8 && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format),
    },
  })
  // An idle connection that Postgres ends must not end the process: the next query opens another one.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    // Nor must one that is in use: its query fails, and its caller gets the error. Without a listener the process would
    // end.
    client.on('error', () => {})
    client.query = preparing(statementSeconds === 0 ? client.query : endingLate(client, statementSeconds))
  })
  return pool
}

/**
 * A connection's `query` that ends the connection if an answer takes longer than a statement may, or if its server takes
 * no writes: the next one goes to the server that does.
 */
function endingLate(client: PoolClient, statementSeconds: number): PoolClient['query'] {
  return new Proxy(client.query, {
    apply(query, _, given) {
      const answer = Reflect.apply(query, client, given)
      if (!(answer instanceof Promise) || !(client instanceof pg.Client)) return answer
      const timer = setTimeout(() => void client.end(), (statementSeconds + LATE_SECONDS) * 1000)
      return answer
        .catch((error: unknown) => {
          if (isReadOnly(error)) void client.end()
          throw error
        })
        .finally(() => clearTimeout(timer))
    },
  })
}

/**
 * Kysely on one connection that the caller holds, for transactions that also run statements which Kysely cannot
 * prepare. It must not be destroyed: the connection belongs to the caller.
 */
export function onConnection(client: PostgresPoolClient, sealed = new SealedRows()): Db {
  return kyselyOver(
    {
      connect: async () => ({ query: client.query.bind(client), release: () => {} }),
      end: async () => {},
      options: {},
    },
    sealed,
  )
}

/**
 * Runs work on one connection of a handle's pool: for transactions whose statements {@link run} on it prepares.
 *
 * @param db as {@link openDatabase} made it, or a share of it
 * @param work gets a handle of the connection
 * @throws what the work throws; TypeError for another handle
 */
export async function onOneConnection<Result>(db: Db, work: (db: Db) => Promise<Result>): Promise<Result> {
  const own = poolsOf.get(db)
  if (own === undefined) throw new TypeError('The handle has no pool of its own.')
  const client = await own.pool.connect()
  try {
    return await work(onConnection(client, own.sealed))
  } finally {
    client.release()
  }
}

/**
 * A handle over the connections of another one, and how long its statements have waited for them, in milliseconds. Its
 * statements run one after another. It must not be destroyed.
 *
 * @param db as {@link openDatabase} made it, or a share of it
 * @throws TypeError for another handle
 */
export function countingWaits(db: Db): { readonly db: Db; readonly waitedMs: () => number } {
  const own = poolsOf.get(db)
  if (own === undefined) throw new TypeError('The handle has no pool of its own.')
  let waited = 0
  // A statement that is given up while it waits leaves its place later.
  let waitsSince: number | null = null
  const connect = async () => {
    const since = performance.now()
    waitsSince = since
    try {
      return await own.pool.connect()
    } finally {
      if (waitsSince === since) {
        waited += performance.now() - since
        waitsSince = null
      }
    }
  }
  const pool = Object.create(own.pool, { connect: { value: connect }, end: { value: async () => {} } })
  const waitedMs = () => waited + (waitsSince === null ? 0 : performance.now() - waitsSince)
  return { db: kyselyOver(pool, own.sealed), waitedMs }
}

function kyselyOver(pool: PostgresPool, sealed: SealedRows, share?: Share): Db {
  const plugins = [memberNames, sealed]
  const db = new Kysely<Database>({ dialect: new CancellingDialect({ pool }), plugins })
  poolsOf.set(db, { pool, sealed, share })
  return db
}

/**
 * The most connections that are reserved for key checks, captures, health and jobs: a quarter of the pool, up to this.
 */
const KEPT_FREE_MAX = 3
/** The least share of a workspace, however small the pool. */
const LEAST = 2
/** The most workspaces whose handles are kept. */
const HANDLES_MAX = 1_000

/**
 * The same database, limited to a workspace's share of the connections: at most half of those for all workspaces, which
 * in turn leave some to the service. When the connections are exhausted, the workspaces take turns.
 *
 * Its queries throw `LineTooLong` when no connection is free within ten seconds. A handle that is not shared is
 * returned unchanged.
 */
export function shareOf(db: Db, workspaceId: string): Db {
  return poolsOf.get(db)?.share?.(workspaceId) ?? db
}

/**
 * Lets workspaces share the connections of a pool.
 *
 * @param open makes a handle over connections
 */
function sharing(
  pool: pg.Pool,
  {
    max,
    keptFree = Math.min(KEPT_FREE_MAX, Math.floor(max / 4)),
    noun,
  }: { max: number; keptFree?: number; noun: string },
  open: (pool: PostgresPool) => Db,
): Share {
  const inAll = max - keptFree
  const turns = new Turns({
    atOnce: Math.max(LEAST, Math.floor(inAll / 2)),
    inAll,
    wait: { msMax: WAIT_MS_MAX, noun },
  })
  const handles = new Map<string, Db>()
  return (workspaceId) => {
    const known = handles.get(workspaceId)
    if (known !== undefined) return known
    const share = open(sharedPool(pool, () => turns.begin(workspaceId)))
    setNewest(handles, workspaceId, share, HANDLES_MAX)
    return share
  }
}

/** A pool whose connections each take a turn. It must not be ended: the connections belong to the whole pool. */
function sharedPool(pool: pg.Pool, begin: () => ReturnType<Turns['begin']>): PostgresPool {
  const connect = async (): Promise<pg.PoolClient> => {
    const end = await begin()
    try {
      const client = await pool.connect()
      // The pool sets a new `release` each time it returns a connection.
      const release = client.release.bind(client)
      client.release = (error) => {
        release(error)
        end()
      }
      return client
    } catch (error) {
      end()
      throw error
    }
  }
  return Object.create(pool, { connect: { value: connect }, end: { value: async () => {} } })
}
