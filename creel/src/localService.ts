import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ClientError } from '@creel/terminal/clientError'
import { writePrivately } from '@creel/terminal/connection/profile'
import type { Environment, LocalService } from '@creel/terminal/tools'
import { environmentOfDataFolder, ownDataFolder } from './dataFolder.ts'
import type { Operator } from './operatorSession.ts'
import type { ProgramParts } from './programParts.ts'
import { readServiceFile, serviceFile } from './serviceFile.ts'
import { answersHttp, runningServices } from './serviceRegistry.ts'

/** File of the key for a local service. It is kept in the data folder, which holds the whole database anyway. */
const keyFile = (dataDir: string): string => join(dataDir, 'terminal.key')

const KEY_NAME = 'terminal'

/**
 * The services that answer on this machine. First the one of this folder or of `CREEL_DATA_DIR`; then those of the
 * user's registry, unless that variable is set.
 */
export async function* localServices(environment: Environment): AsyncGenerator<LocalService> {
  const own = ownDataFolder(environment)
  const url = await readServiceFile(own)
  if (url !== undefined && (await answersHttp(url))) yield { url, dataDir: own, file: serviceFile(own) }
  if ((environment.CREEL_DATA_DIR ?? '').trim() !== '') return
  for (const { url: address, dataDir } of await runningServices(environment)) {
    if (dataDir !== own) yield { url: address, dataDir, file: serviceFile(dataDir) }
  }
}

/** The key that an earlier command stored for the local service, and its file. */
export async function keptKey(dataDir: string): Promise<{ key: string | undefined; file: string }> {
  const file = keyFile(dataDir)
  const text = await readFile(file, 'utf8').catch(() => undefined)
  const key = text?.trim()
  return { key: key === '' ? undefined : key, file }
}

/**
 * Creates a key in the database of a local service, for its oldest workspace, and stores it in the data folder. This
 * gives no new rights to the folder's readers: the database and its secrets are in it.
 *
 * @throws ClientError when the service has no workspace; the errors of the operator's procedures
 */
export async function renewLocalKey(dataDir: string, parts: ProgramParts): Promise<string> {
  const { asOperator } = await import('./operatorSession.ts')
  const make = async (operator: Operator) => {
    const workspace = (await operator.workspaces.list()).at(-1)
    if (workspace === undefined) {
      throw new ClientError('The local service has no workspace.', [
        'Create one: `creel workspace create --name <name>`.',
      ])
    }
    return (await operator.keys.create({ workspace: workspace.id, name: KEY_NAME })).key
  }
  const key = await asOperator(parts, null, make, environmentOfDataFolder(process.env, dataDir))
  await keepKey(dataDir, key)
  return key
}

/** Stores a key for commands in the data folder of their service. */
export async function keepKey(dataDir: string, key: string): Promise<void> {
  await writePrivately(keyFile(dataDir), `${key}\n`)
}
