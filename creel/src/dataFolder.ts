import { open, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Environment } from '@creel/terminal/tools'
import { runningServices } from './serviceRegistry.ts'

/** Variables that select another database than the one of a data folder. */
const DATABASE_VARIABLES = [
  ...['DATABASE_URL', 'CREEL_DATABASE_READ_URL'].flatMap((name) => [name, `${name}_FILE`]),
  'CREEL_CELLS_FILE',
  'CREEL_CELL',
]

const given = (text: string | undefined): string | undefined => text?.trim() || undefined

/** The configured data folder, else the one in this folder; an absolute path, which need not exist. */
export const ownDataFolder = (environment: Environment): string =>
  resolve(given(environment.CREEL_DATA_DIR) ?? '.creel')

/** Whether variables select a data folder or a database. */
const isNamed = (environment: Environment): boolean =>
  ['CREEL_DATA_DIR', 'DATABASE_URL', 'DATABASE_URL_FILE', 'CREEL_CELLS_FILE'].some(
    (name) => given(environment[name]) !== undefined,
  )

const isThere = (folder: string): Promise<boolean> =>
  stat(folder).then(
    () => true,
    () => false,
  )

/** The environment for the embedded PostgreSQL of a data folder; settings of other databases are removed. */
export function environmentOfDataFolder(environment: Environment, dataDir: string): Environment {
  const others = Object.entries(environment).filter(([name]) => !DATABASE_VARIABLES.includes(name))
  return { ...Object.fromEntries(others), CREEL_DATA_DIR: dataDir }
}

/**
 * The environment of a command that uses a running service. Unchanged if it selects a database or a data folder, or if
 * this folder has a data folder; else with the data folder of the user's running service, if any.
 */
export async function environmentBesideService(environment: Environment): Promise<Environment> {
  if (isNamed(environment) || (await isThere(ownDataFolder(environment)))) return environment
  const [running] = await runningServices(environment)
  return running === undefined ? environment : environmentOfDataFolder(environment, running.dataDir)
}

/**
 * The environment of a service that is started without configuration. It uses an embedded PostgreSQL, because a
 * `DATABASE_URL` in the environment may belong to the user's own program. Its data folder is the configured one, or the
 * one in this folder, else the user's own, which is the same from every folder.
 */
export async function environmentOfQuickStart(environment: Environment): Promise<Environment> {
  const own = ownDataFolder(environment)
  if (given(environment.CREEL_DATA_DIR) !== undefined || (await isThere(own))) {
    return environmentOfDataFolder(environment, own)
  }
  const { XDG_DATA_HOME, HOME } = environment
  const data = XDG_DATA_HOME || (HOME && join(HOME, '.local', 'share'))
  return environmentOfDataFolder(environment, data ? join(data, 'creel') : own)
}

/** Makes the names in a folder durable: a file that was synced can still lose its name when the machine loses power. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
