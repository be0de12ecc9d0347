import { execFile } from 'node:child_process'
import { chown, mkdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { StartupError } from '../startupError.ts'
import type { PostgresHome } from './home.ts'

/**
 * Creates the cluster if the home has none. It uses UTF-8 with PostgreSQL's built-in locale, so that sorting is the
 * same on every machine and no locale of the system is needed. The creation is atomic: after a crash, the next start
 * begins from scratch.
 *
 * @returns whether it was created
 * @throws StartupError with the output of `initdb`
 */
export async function makeCluster(home: PostgresHome, runtimeFolder: string): Promise<boolean> {
  if ((await stat(join(home.clusterFolder, 'PG_VERSION')).catch(() => undefined)) !== undefined) return false
  const unfinished = `${home.clusterFolder}.unfinished`
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished, { mode: 0o700 })
  if (home.account !== undefined) await chown(unfinished, home.account.uid, home.account.gid)
  const options = [
    `--pgdata=${unfinished}`,
    '--username=creel',
    '--auth=trust',
    '--encoding=UTF8',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    '--no-instructions',
  ]
  try {
    await promisify(execFile)(join(runtimeFolder, 'bin', 'initdb'), options, {
      cwd: home.folder,
      env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' },
      ...home.account,
    })
  } catch (cause) {
    const said = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim() : ''
    throw new StartupError(
      `The embedded PostgreSQL could not be set up in ${home.folder}.\n${said || cause}`,
      { cause },
    )
  }
  await rename(unfinished, home.clusterFolder)
  return true
}

/** Creates the database if the cluster has none of that name. */
export async function makeDatabase(maintenanceUrl: string, name: string): Promise<void> {
  await withClient(maintenanceUrl, 0, async (client) => {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name])
    if (rowCount === 0) await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`)
  })
}

/** Runs `work` on a connection of its own. A query fails after `ms`, 0 for no limit, and when the connection is lost. */
export async function withClient<Result>(url: string, ms: number, work: (client: Client) => Promise<Result>) {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: ms, query_timeout: ms })
  // Without a listener, a connection that is lost would end the process.
  client.on('error', () => {})
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}
