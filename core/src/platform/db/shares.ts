import type { Kysely, PostgresPool } from 'kysely'
import type pg from 'pg'
import { PATIENCE_MS, Turns } from '../turns/index.ts'
import type { Db } from './handles.ts'
import type { Database } from './tables.ts'

/** Connections that no workspace gets, for key checks, captures, health and jobs: a quarter of the pool, at most so many. */
const KEPT_FREE_MAX = 3
/** A workspace gets so many of however small a pool. */
const LEAST = 2
/** Handles of so many workspaces are kept. */
const HANDLES_MAX = 1_000

/** The handles of workspaces, by the handle of the whole pool. */
const sharesOf = new WeakMap<Db, (workspaceId: string) => Db>()

/**
 * The same database with the connections that a workspace may take: at most half at once of what all workspaces
 * get together, which leaves some to the service itself. Where more are wanted, the workspaces take turns.
 *
 * Queries through it throw `LineTooLong` when none came in ten seconds. A handle that is not shared is returned as it is.
 */
export function shareOf(db: Db, workspaceId: string): Db {
  return sharesOf.get(db)?.(workspaceId) ?? db
}

/**
 * Lets workspaces share the connections of a pool.
 *
 * @param db the handle of the whole pool
 * @param open makes a handle over connections
 */
export function shareConnections(
  db: Db,
  pool: pg.Pool,
  {
    max,
    keptFree = Math.min(KEPT_FREE_MAX, Math.floor(max / 4)),
    noun,
  }: { max: number; keptFree?: number; noun: string },
  open: (pool: PostgresPool) => Kysely<Database>,
): void {
  const inAll = max - keptFree
  const turns = new Turns({
    atOnce: Math.max(LEAST, Math.floor(inAll / 2)),
    inAll,
    patience: { ms: PATIENCE_MS, noun },
  })
  const handles = new Map<string, Db>()
  sharesOf.set(db, (workspaceId) => {
    const known = handles.get(workspaceId)
    if (known !== undefined) return known
    const share = open(sharedPool(pool, () => turns.begin(workspaceId)))
    handles.set(workspaceId, share)
    const [oldest] = handles.keys()
    if (handles.size > HANDLES_MAX && oldest !== undefined) handles.delete(oldest)
    return share
  })
}

/** A pool each of whose connections takes a turn. Never to be ended: the connections are the whole pool's. */
function sharedPool(pool: pg.Pool, begin: () => ReturnType<Turns['begin']>): PostgresPool {
  const connect = async (): Promise<pg.PoolClient> => {
    const end = await begin()
    try {
      const client = await pool.connect()
      // The pool gives a connection a `release` of its own whenever it hands it out.
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
