import { execFile } from 'node:child_process'
import { chown, mkdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { StartupError } from '../startupError.ts'
import type { PostgresHome } from './home.ts'

/**
 * Makes the cluster when the home has none: UTF-8 with the locale that is built into PostgreSQL, so that sorting is the
 * same on every machine and no locale of the system is needed. It appears whole or not at all: killed half-way, the next
 * start begins anew.
 *
 * @returns whether it was made now
 * @throws StartupError with what `initdb` said
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

/** Makes the database of that name when the cluster has none. */
export async function makeDatabase(maintenanceUrl: string, name: string): Promise<void> {
  const client = new Client({ connectionString: maintenanceUrl })
  await client.connect()
  try {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name])
    if (rowCount === 0) await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`)
  } finally {
    await client.end()
  }
}
