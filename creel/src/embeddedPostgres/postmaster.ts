import { spawn } from 'node:child_process'
import { open, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import { StartupError } from '../startupError.ts'
import { makeSocketFolder, type PostgresHome } from './home.ts'

const START_SECONDS_MAX = 120
const STOP_SECONDS_MAX = 30
const POLL_MILLISECONDS = 10
const ORPHAN_PAUSE_MILLISECONDS = 200
/** Beyond it the log of PostgreSQL begins anew at the next start. */
const LOG_BYTES_MAX = 10 * 1024 * 1024

/** What `postmaster.pid` says, the file by which PostgreSQL marks a cluster as running. */
export interface PidFile {
  readonly pid: number
  readonly socketFolder: string
  /** `starting`, `ready`, `stopping`, `standby`; "" while it is being written. */
  readonly status: string
}

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
  return commandOf(pid).includes(clusterFolder)
}

/** Whether a postmaster runs the binaries of this folder. */
export async function runsFrom(pid: number, runtimeFolder: string): Promise<boolean> {
  const program =
    process.platform === 'linux' ? await readlink(`/proc/${pid}/exe`).catch(() => '') : commandOf(pid)
  return program.startsWith(`${runtimeFolder}/`)
}

/** The command line of a process, where there is no /proc. */
function commandOf(pid: number): string {
  return Bun.spawnSync(['/bin/ps', '-p', String(pid), '-o', 'command=']).stdout.toString()
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
    // The suite runs many services at once on its one that is not durable.
    max_connections: durable ? '100' : '500',
    shared_buffers: '192MB',
    wal_buffers: '16MB',
    // What is not durable may stand in memory.
    max_wal_size: durable ? '2GB' : '512MB',
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
 * Starts the postmaster and waits until it takes connections, recovery after a crash included. Sessions of a dead
 * postmaster may take a moment to notice its end; PostgreSQL refuses to start until then, and is started again.
 *
 * @returns the process number
 * @throws StartupError with the end of its log
 */
export async function startPostmaster(
  home: PostgresHome,
  runtimeFolder: string,
  durable: boolean,
): Promise<number> {
  const deadline = performance.now() + START_SECONDS_MAX * 1000
  for (;;) {
    // Nobody else may use this folder, so what a dead postmaster left in it only stands in the way.
    await rm(home.socketFolder, { recursive: true, force: true })
    await makeSocketFolder(home)
    const outcome = await startOnce(home, runtimeFolder, durable, deadline)
    if ('pid' in outcome) return outcome.pid
    const isForOrphans = outcome.log.includes('pre-existing shared memory block')
    if (!isForOrphans || performance.now() > deadline) {
      throw new StartupError(
        `The embedded PostgreSQL did not start: ${outcome.reason}.` +
          (outcome.log === '' ? '' : `\n${outcome.log.split('\n').slice(-8).join('\n')}`),
      )
    }
    await pause(ORPHAN_PAUSE_MILLISECONDS)
  }
}

/**
 * One try. The postmaster gets a session of its own, so that Ctrl-C in a terminal reaches us alone and we end it after
 * the drain, and a file for its log, so that it outlives us if we are killed.
 */
async function startOnce(
  home: PostgresHome,
  runtimeFolder: string,
  durable: boolean,
  deadline: number,
): Promise<{ pid: number } | { reason: string; log: string }> {
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
  while (ended === undefined && performance.now() < deadline) {
    const mark = await readPidFile(home.clusterFolder)
    if (mark?.pid === child.pid && mark?.status === 'ready' && child.pid !== undefined)
      return { pid: child.pid }
    await pause(POLL_MILLISECONDS)
  }
  const said = (await readFile(home.logFile, 'utf8').catch(() => '')).slice(logStart).trim()
  return { reason: ended ?? `it took over ${START_SECONDS_MAX} s`, log: said }
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

/**
 * Makes PostgreSQL see through the mark of a dead postmaster whose process number somebody has: another program by now
 * (after a reboot, in a container), or the dead itself while nobody has reaped it. It overlooks its parent's number, and
 * that is ours. The rest of the mark stays: by it PostgreSQL finds sessions of the dead that still live, and waits.
 */
export async function disownPidFile(clusterFolder: string): Promise<void> {
  const file = join(clusterFolder, 'postmaster.pid')
  const text = await readFile(file, 'utf8').catch(() => undefined)
  if (text === undefined) return
  // Overwritten in place, so that it stays its owner's.
  await writeFile(file, [String(process.pid), ...text.split('\n').slice(1)].join('\n'))
}
