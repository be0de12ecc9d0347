import { spawn } from 'node:child_process'
import { open, readFile, readlink, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import { StartupError } from '../startupError.ts'
import type { PostgresHome } from './home.ts'

const START_SECONDS_MAX = 120
const STOP_SECONDS_MAX = 30
const POLL_MILLISECONDS = 10
/** Beyond it the log of PostgreSQL begins anew at the next start. */
const LOG_BYTES_MAX = 10 * 1024 * 1024

/** What `postmaster.pid` says, the file by which PostgreSQL marks a cluster as running. */
export interface PidFile {
  readonly pid: number
  readonly socketFolder: string
  /** `starting`, `ready`, `stopping`, `standby`; "" while it is being written. */
  readonly status: string
}

const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds))

/** Reads the mark of a running cluster; undefined when there is none or it is not whole yet. */
export async function readPidFile(clusterFolder: string): Promise<PidFile | undefined> {
  const text = await readFile(join(clusterFolder, 'postmaster.pid'), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const lines = text.split('\n')
  const pid = Number(lines[0])
  if (!Number.isInteger(pid) || pid <= 0) return undefined
  return { pid, socketFolder: lines[4]?.trim() ?? '', status: lines[7]?.trim() ?? '' }
}

/** A URL for a database of the cluster. node-postgres takes a folder as its `host`, percent-encoded. */
export function socketUrl(socketFolder: string, database: string): string {
  return `postgresql://creel@${encodeURIComponent(socketFolder)}:5432/${database}`
}

/** Whether the process is the postmaster of this cluster, and not another that has its number by now. */
export async function isPostmaster(pid: number, clusterFolder: string): Promise<boolean> {
  if (!isAlive(pid)) return false
  if (process.platform === 'linux') {
    // The postmaster works in its data directory; nothing else has reason to. A zombie's cannot be read.
    return (await readlink(`/proc/${pid}/cwd`).catch(() => '')) === clusterFolder
  }
  const listing = Bun.spawnSync(['/bin/ps', '-p', String(pid), '-o', 'command=']).stdout.toString()
  return listing.includes(clusterFolder)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it lives, under an account that is not ours to signal.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Whether the server answers a query, within two seconds. */
export async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2000, query_timeout: 2000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query('SELECT 1')
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** Options that go with the program and not with the cluster, so that an upgrade changes them. */
function settings(home: PostgresHome, durable: boolean): Record<string, string> {
  return {
    listen_addresses: '',
    unix_socket_directories: home.socketFolder,
    unix_socket_permissions: '0700',
    port: '5432',
    max_connections: '100',
    shared_buffers: '192MB',
    wal_buffers: '16MB',
    max_wal_size: '2GB',
    checkpoint_timeout: '15min',
    synchronous_commit: durable ? 'on' : 'off',
    fsync: durable ? 'on' : 'off',
    full_page_writes: durable ? 'on' : 'off',
    // Short statements, two cores, and the 64 MB of shared memory that a container gets: neither helps.
    jit: 'off',
    max_parallel_workers_per_gather: '0',
    random_page_cost: '1.1',
    // Captures are inserted and evicted all day: small and frequent beats rare and long.
    autovacuum_naptime: '15s',
    autovacuum_vacuum_cost_limit: '1000',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_checkpoints: 'off',
    log_min_messages: 'warning',
  }
}

/**
 * Starts the postmaster and waits until it takes connections, recovery after a crash included. It gets a session of
 * its own, so that Ctrl-C in a terminal reaches us alone and we end it after the drain, and a file for its log, so
 * that it outlives us if we are killed.
 *
 * @returns the process number
 * @throws StartupError with the end of its log
 */
export async function startPostmaster(
  home: PostgresHome,
  runtimeFolder: string,
  durable: boolean,
): Promise<number> {
  const tooLong = ((await stat(home.logFile).catch(() => undefined))?.size ?? 0) > LOG_BYTES_MAX
  const log = await open(home.logFile, tooLong ? 'w' : 'a', 0o600)
  const logStart = (await log.stat()).size
  const options = Object.entries(settings(home, durable)).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ])
  const child = spawn(join(runtimeFolder, 'bin', 'postgres'), ['-D', home.clusterFolder, ...options], {
    cwd: home.folder,
    env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' },
    stdio: ['ignore', log.fd, log.fd],
    detached: true,
    ...home.account,
  })
  let ended: string | undefined
  child.on('error', (error) => {
    ended = error.message
  })
  child.on('exit', (code, signal) => {
    ended = signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`
  })
  child.unref()
  await log.close()

  const deadline = performance.now() + START_SECONDS_MAX * 1000
  while (performance.now() < deadline) {
    if (ended !== undefined) break
    const mark = await readPidFile(home.clusterFolder)
    if (mark?.pid === child.pid && mark?.status === 'ready' && child.pid !== undefined) return child.pid
    await pause(POLL_MILLISECONDS)
  }
  const said = (await readFile(home.logFile, 'utf8').catch(() => '')).slice(logStart).trim()
  throw new StartupError(
    `The embedded PostgreSQL did not start: ${ended ?? `it took over ${START_SECONDS_MAX} s`}.` +
      (said === '' ? '' : `\n${said.split('\n').slice(-8).join('\n')}`),
  )
}

/**
 * Stops a postmaster: `fast` first (sessions are cut, everything is written), `immediate` and then the kernel's way
 * when it does not come. Also one that is not our child. Returns when it is gone.
 */
export async function stopPostmaster(pid: number, clusterFolder: string): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    if (!(await isPostmaster(pid, clusterFolder))) return
    try {
      process.kill(pid, signal)
    } catch {
      return
    }
    const deadline = performance.now() + STOP_SECONDS_MAX * 1000
    while (performance.now() < deadline) {
      const mark = await readPidFile(clusterFolder)
      if (mark?.pid !== pid || !(await isPostmaster(pid, clusterFolder))) return
      await pause(POLL_MILLISECONDS)
    }
  }
}

/** Removes a mark whose process number was given to another process since: PostgreSQL would take it for a running one. */
export async function removePidFile(clusterFolder: string): Promise<void> {
  await rm(join(clusterFolder, 'postmaster.pid'), { force: true })
}
