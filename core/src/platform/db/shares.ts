import type { Kysely, PostgresPool } from 'kysely'
import type pg from 'pg'
import { Turns, WAIT_MS_MAX } from '../turns/index.ts'
import type { Db } from './statement.ts'
import type { Database } from './tables.ts'

/**
 * The most connections that are reserved for key checks, captures, health and jobs: a quarter of the pool, up to this.
 */
const KEPT_FREE_MAX = 3
/** The least share of a workspace, however small the pool. */
const LEAST = 2
/** The most workspaces whose handles are kept. */
const HANDLES_MAX = 1_000

/** The handles of workspaces, by the handle of the whole pool. */
const sharesOf = new WeakMap<Db, (workspaceId: string) => Db>()

/**
 * The same database, limited to a workspace's share of the connections: at most half of those for all workspaces, which
 * in turn leave some to the service. When the connections are exhausted, the workspaces take turns.
 *
 * Its queries throw `LineTooLong` when no connection is free within ten seconds. A handle that is not shared is
 * returned unchanged.
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
    wait: { msMax: WAIT_MS_MAX, noun },
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
