import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ProgramParts } from '../../commands/programParts.ts'
import { readServiceFile, serviceFile } from '../../serviceFile.ts'
import { ClientError } from '../clientError.ts'
import { writePrivately } from './profile.ts'

/** Where the key of commands beside a local service is kept: the folder holds the whole database anyway. */
const keyFile = (dataDir: string): string => join(dataDir, 'terminal.key')

/** What the key is called in the list of keys. */
const KEY_NAME = 'terminal'

/** The address of the service that runs on a data folder, undefined when none does. */
export async function localServiceUrl(dataDir: string): Promise<{ url: string; file: string } | undefined> {
  const url = await readServiceFile(dataDir)
  return url === undefined ? undefined : { url, file: serviceFile(dataDir) }
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
  const key = await asOperator(parts, async (operator) => {
    const workspace = (await operator.workspaces.list()).at(-1)
    if (workspace === undefined) {
      throw new ClientError('The local service has no workspace.', [
        'Make one: `creel workspace create --name <name>`.',
      ])
    }
    return (await operator.keys.create({ workspace: workspace.id, name: KEY_NAME })).key
  })
  await writePrivately(keyFile(dataDir), `${key}\n`)
  return key
}
