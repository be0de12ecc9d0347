import { createHash } from 'node:crypto'
import { readdir, readFile, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { writePrivately } from '@creel/terminal/connection/profile'
import type { Environment } from '@creel/terminal/tools'
import { jsonOrText } from '@creel/terminal/words'
import { z } from 'zod'
import { isAlive } from './stopping.ts'

/** Timeout of a health check. A service that accepts the connection but does not answer in time is busy, not gone. */
const ANSWER_MS = 1000

/** Limit of services that are asked whether they answer; one user does not run more on one machine. */
const ASKED_MAX = 64

const Entry = z.object({
  url: z.url({ protocol: /^https?$/ }),
  dataDir: z.string().startsWith('/'),
  pid: z.int().positive(),
  startedAt: z.iso.datetime(),
  /** Machines, and containers, may share a home folder, and not their process ids. */
  host: z.string().optional(),
})

/** A service on an embedded PostgreSQL that the user has started. `url` is its address, `dataDir` an absolute path. */
export type RegisteredService = z.infer<typeof Entry>

/**
 * The user's registry of running services, one file each, by which commands find them from any folder. It contains no
 * secret: the key is in the data folder.
 *
 * @returns undefined when the environment has no home folder, as for most system services
 */
function registryFolder({ XDG_STATE_HOME, HOME }: Environment): string | undefined {
  if (XDG_STATE_HOME) return join(XDG_STATE_HOME, 'creel', 'services')
  return HOME ? join(HOME, '.local', 'state', 'creel', 'services') : undefined
}

/** Another machine with the same home folder may have a data folder at the same path. */
const fileOf = (folder: string, dataDir: string) => {
  const name = createHash('sha256')
    .update(JSON.stringify([hostname(), dataDir]))
    .digest('hex')
  return join(folder, `${name.slice(0, 24)}.json`)
}

/**
 * Adds a service. Entries of other data folders with the same address are removed: their services have ended.
 *
 * @throws Error when the folder cannot be written; the service runs without an entry as well
 */
export async function registerService(
  environment: Environment,
  service: Pick<RegisteredService, 'url' | 'dataDir'>,
): Promise<void> {
  const folder = registryFolder(environment)
  if (folder === undefined) return
  const file = fileOf(folder, service.dataDir)
  for (const { file: other, entry } of await entriesOf(folder)) {
    if (entry.url === service.url && other !== file) await rm(other, { force: true })
  }
  const entry = { ...service, pid: process.pid, startedAt: new Date().toISOString(), host: hostname() }
  await writePrivately(file, `${JSON.stringify(entry)}\n`)
}

export async function unregisterService(environment: Environment, dataDir: string): Promise<void> {
  const folder = registryFolder(environment)
  if (folder !== undefined) await rm(fileOf(folder, dataDir), { force: true }).catch(() => undefined)
}

/** The user's services that run and answer, newest first. */
export async function runningServices(environment: Environment): Promise<RegisteredService[]> {
  const folder = registryFolder(environment)
  if (folder === undefined) return []
  const entries = (await entriesOf(folder))
    .map(({ entry }) => entry)
    .sort((left, right) => right.startedAt.localeCompare(left.startedAt))
    .slice(0, ASKED_MAX)
  // The process id may be in use by another program.
  const isAnswered = await Promise.all(entries.map(({ url }) => answersHttp(url)))
  return entries.filter((_entry, at) => isAnswered[at])
}

/** The entries of processes that are there, on this machine. A service that was killed on this machine leaves its entry, which is removed. */
async function entriesOf(folder: string): Promise<{ file: string; entry: RegisteredService }[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.json'))
  const all = names.map(async (name) => {
    const file = join(folder, name)
    const text = () => readFile(file, 'utf8').catch(() => '')
    const read = await text()
    const entry = Entry.safeParse(jsonOrText(read))
    if (!entry.success) return []
    const { host, pid } = entry.data
    if (host !== undefined && host !== hostname()) return []
    if (isAlive(pid)) return [{ file, entry: entry.data }]
    // The service may have been started again meanwhile.
    const isLeft = host !== undefined && (await text()) === read
    if (isLeft) await rm(file, { force: true }).catch(() => undefined)
    return []
  })
  return (await Promise.all(all)).flat()
}

/** Whether a service answers at an address. A timeout on a busy machine counts as an answer. */
export async function answersHttp(url: string): Promise<boolean> {
  return await fetch(`${url}/healthz`, { redirect: 'manual', signal: AbortSignal.timeout(ANSWER_MS) }).then(
    (response) => response.ok,
    (error: unknown) => error instanceof Error && error.name === 'TimeoutError',
  )
}
