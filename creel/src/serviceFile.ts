import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from './config/index.ts'

/** The file in a data folder with the address of its service. */
export const serviceFile = (dataDir: string): string => join(dataDir, 'service.json')

/** Writes the address of a data folder's service, for commands. Contains no secret. */
export async function writeServiceFile(dataDir: string, url: string): Promise<void> {
  await writeFile(serviceFile(dataDir), `${JSON.stringify({ url })}\n`, { mode: 0o600 })
}

/** Removes the address when the service has ended, so that commands report that instead of a failed call. */
export async function removeServiceFile(dataDir: string): Promise<void> {
  await rm(serviceFile(dataDir), { force: true })
}

/** The address of the service on a configured data folder, whatever its `--port`; another one's by the variables. */
export async function localAddress(config: Config): Promise<string> {
  const running = config.DATABASE_URL === undefined ? await readServiceFile(config.CREEL_DATA_DIR) : undefined
  return running ?? `http://${hostInUrl(config.CREEL_HOST)}:${config.CREEL_PORT}`
}

/**
 * The address of the service that runs on a data folder. The service may have been killed since.
 *
 * @returns undefined when none runs
 */
export async function readServiceFile(dataDir: string): Promise<string | undefined> {
  const text = await readFile(serviceFile(dataDir), 'utf8').catch(() => '')
  return /^\{"url":"(https?:\/\/[^"\\]+)"\}$/.exec(text.trim())?.[1]
}

/** A listening address as the host of a URL for this machine: IPv6 in brackets, "all addresses" as loopback. */
export function hostInUrl(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
