import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Where a service on a data folder says how it is reached. */
export const serviceFile = (dataDir: string): string => join(dataDir, 'service.json')

/** Says where the service of this data folder listens, for commands beside it. Holds no secret. */
export async function writeServiceFile(dataDir: string, url: string): Promise<void> {
  await writeFile(serviceFile(dataDir), `${JSON.stringify({ url })}\n`, { mode: 0o600 })
}

/** The service has ended: commands beside it say so instead of calling it in vain. */
export async function removeServiceFile(dataDir: string): Promise<void> {
  await rm(serviceFile(dataDir), { force: true })
}

/**
 * The address of the service that runs on a data folder. It may have been killed since.
 *
 * @returns undefined when none runs
 */
export async function readServiceFile(dataDir: string): Promise<string | undefined> {
  const text = await readFile(serviceFile(dataDir), 'utf8').catch(() => '')
  return /^\{"url":"(https?:\/\/[^"\\]+)"\}$/.exec(text.trim())?.[1]
}
