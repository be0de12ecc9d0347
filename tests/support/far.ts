import { Client } from 'pg'
import type { TestDatabase } from './database.ts'
import { type NetworkPath, openNetworkPath } from './networkPath.ts'

/** A test's database, at the other end of a {@link NetworkPath} that delays, cuts, loses and goes silent. */
export interface FarDatabase extends TestDatabase {
  /** URL over the path. A service or process that is given this database knows no other. */
  readonly url: string
  /** The same database without the path, for what the test itself does. */
  readonly near: TestDatabase
  readonly path: NetworkPath
}

/**
 * Moves a database away: a round trip to it takes twice `ms`.
 *
 * @param ms delay each way, in milliseconds
 */
export async function startFar(database: TestDatabase, ms = 20): Promise<FarDatabase> {
  const { host, port } = new Client({ connectionString: database.url })
  const path = await openNetworkPath(
    host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port },
    ms,
  )
  const url = new URL(database.url)
  url.searchParams.delete('host')
  url.searchParams.delete('port')
  url.host = `127.0.0.1:${path.port}`
  return {
    url: url.href,
    near: database,
    path,
    async drop() {
      await path[Symbol.asyncDispose]()
      await database.drop()
    },
  }
}
