import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Operator } from '../../commands/operatorSession.ts'
import type { ProgramParts } from '../../commands/programParts.ts'
import { environmentOfDataFolder, ownDataFolder } from '../../dataFolder.ts'
import { readServiceFile, serviceFile } from '../../serviceFile.ts'
import { answers, runningServices } from '../../serviceRegistry.ts'
import { ClientError } from '../clientError.ts'
import { writePrivately } from './profile.ts'

/** Where the key of commands beside a local service is kept: the folder holds the whole database anyway. */
const keyFile = (dataDir: string): string => join(dataDir, 'terminal.key')

/** What the key is called in the list of keys. */
const KEY_NAME = 'terminal'

/** A service on this machine whose data folder the user may read. `file` is in it and says where the service listens. */
export interface LocalService {
  readonly url: string
  readonly dataDir: string
  readonly file: string
}

/**
 * The services that answer on this machine: that of this folder or of `CREEL_DATA_DIR` first, then, unless that variable is set, those of
 * the user's registry.
 */
export async function* localServices(
  environment: Readonly<Record<string, string | undefined>>,
): AsyncGenerator<LocalService> {
  const own = ownDataFolder(environment)
  const url = await readServiceFile(own)
  if (url !== undefined && (await answers(url))) yield { url, dataDir: own, file: serviceFile(own) }
  if ((environment.CREEL_DATA_DIR ?? '').trim() !== '') return
  for (const { url: address, dataDir } of await runningServices(environment)) {
    if (dataDir !== own) yield { url: address, dataDir, file: serviceFile(dataDir) }
  }
}

/** The key that an earlier command made beside the local service, and the file it is kept in. */
export async function keptKey(dataDir: string): Promise<{ key: string | undefined; file: string }> {
  const file = keyFile(dataDir)
  const text = await readFile(file, 'utf8').catch(() => undefined)
  const key = text?.trim()
  return { key: key === '' ? undefined : key, file }
}

/**
 * Makes a key in the database of a local service, for its oldest workspace, and keeps it in the data folder. Who may read
 * the folder may do so: the database and its secrets are in it.
 *
 * @throws ClientError when the service has no workspace; what the operator's procedures throw
 */
export async function renewLocalKey(dataDir: string, parts: ProgramParts): Promise<string> {
  const { asOperator } = await import('../../commands/operatorSession.ts')
  const make = async (operator: Operator) => {
    const workspace = (await operator.workspaces.list()).at(-1)
    if (workspace === undefined) {
      throw new ClientError('The local service has no workspace.', [
        'Make one: `creel workspace create --name <name>`.',
      ])
    }
    return (await operator.keys.create({ workspace: workspace.id, name: KEY_NAME })).key
  }
  const key = await asOperator(parts, make, environmentOfDataFolder(process.env, dataDir))
  await keepKey(dataDir, key)
  return key
}

/** Keeps a key for commands beside the service of a data folder. */
export async function keepKey(dataDir: string, key: string): Promise<void> {
  await writePrivately(keyFile(dataDir), `${key}\n`)
}
