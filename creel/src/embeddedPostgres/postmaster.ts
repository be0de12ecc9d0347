import { spawn } from 'node:child_process'
import { open, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { StartupError } from '../startupError.ts'
import { isAlive } from '../stopping.ts'
import { withClient } from './cluster.ts'
import { makeSocketFolder, type PostgresHome } from './home.ts'

const START_SECONDS_MAX = 120
const STOP_SECONDS_MAX = 30
const POLL_MILLISECONDS = 10
const ORPHAN_PAUSE_MILLISECONDS = 200
/** Above this size, PostgreSQL's log is truncated at the next start. */
const LOG_BYTES_MAX = 10 * 1024 * 1024

/**
 * Reads `postmaster.pid`, by which PostgreSQL marks a cluster as running; undefined when there is none or it is
 * incomplete. `status` is `starting`, `ready`, `stopping` or `standby`; "" while it is being written.
 */
export async function readPidFile(clusterFolder: string) {
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

/** Whether the process is the postmaster of this cluster, and not another one that reuses its number. */
export async function isPostmaster(pid: number, clusterFolder: string): Promise<boolean> {
  if (!isAlive(pid)) return false
  if (process.platform === 'linux') {
    // The postmaster's working directory is its data directory; no other process has a reason to use it. A zombie has
    // none.
    return (await readlink(`/proc/${pid}/cwd`).catch(() => '')) === clusterFolder
  }
  return commandOf(pid).includes(clusterFolder)
}

export async function runsFrom(pid: number, runtimeFolder: string): Promise<boolean> {
  const program =
    process.platform === 'linux' ? await readlink(`/proc/${pid}/exe`).catch(() => '') : commandOf(pid)
  return program.startsWith(`${runtimeFolder}/`)
}

/** The command line of a process, for systems without /proc. */
function commandOf(pid: number): string {
  return Bun.spawnSync(['/bin/ps', '-p', String(pid), '-o', 'command=']).stdout.toString()
}

/** Whether the server answers a query, within two seconds. */
export async function answersQueries(url: string): Promise<boolean> {
  return await withClient(url, 2000, (client) => client.query('SELECT 1')).then(
    () => true,
    () => false,
  )
}

/** Options that belong to the program and not to the cluster, so that an upgrade changes them. */
function settings(home: PostgresHome, durable: boolean): Record<string, string> {
  return {
    listen_addresses: '',
    unix_socket_directories: home.socketFolder,
    unix_socket_permissions: '0700',
    port: '5432',
    // Room for sixteen gateway processes. The test suite runs many services on its one cluster, which is not durable.
    max_connections: durable ? '200' : '500',
    shared_buffers: '192MB',
    wal_buffers: '16MB',
    // A cluster that is not durable may be in memory.
    max_wal_size: durable ? '2GB' : '512MB',
    checkpoint_timeout: '15min',
    // Linux gathers what sessions write for half a minute, and commits wait while it writes all at once.
    backend_flush_after: process.platform === 'linux' ? '1MB' : '0',
    synchronous_commit: durable ? 'on' : 'off',
    fsync: durable ? 'on' : 'off',
    full_page_writes: durable ? 'on' : 'off',
    // Both are useless with short statements, two cores, and the 64 MB of shared memory that a container gets.
    jit: 'off',
    max_parallel_workers_per_gather: '0',
    random_page_cost: '1.1',
    // Captures are inserted and evicted all day: small, frequent runs are better than rare, long ones. The test suite
    // has dozens of databases for some seconds each, and a run starts a process for each.
    autovacuum_naptime: durable ? '15s' : '5min',
    // About 7,000 pages a second, those of 30,000 captures. After a checkpoint each page that a vacuum changes is
    // written to the WAL as a whole. A faster one fills segments sooner than they are made ahead.
    autovacuum_vacuum_cost_limit: '300',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_checkpoints: 'off',
    log_min_messages: 'warning',
    // Captures that repeat an event, or that others overtake, end statements with errors. A statement or a row would be a
    // kilobyte of log for each, with data of users.
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
  }
}

/**
 * Starts the postmaster and waits until it accepts connections, after recovery if it had crashed. Sessions of a dead
 * postmaster may take a moment to end. PostgreSQL refuses to start until then, so this retries.
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
    // No other process may use this folder, so anything that a dead postmaster has left there is removed.
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
    await sleep(ORPHAN_PAUSE_MILLISECONDS)
  }
}

/**
 * Starts the postmaster once. It gets a session of its own, so that Ctrl-C in a terminal reaches only us and we can
 * stop it after the drain. It logs to a file, so that it survives if we are killed.
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
    await sleep(POLL_MILLISECONDS)
  }
  const said = (await readFile(home.logFile, 'utf8').catch(() => '')).slice(logStart).trim()
  return { reason: ended ?? `it took over ${START_SECONDS_MAX} s`, log: said }
}

/**
 * Stops a postmaster, also one that is not our child: `fast` first (sessions are cut, everything is written), then
 * `immediate`, then SIGKILL. Returns when it is gone.
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
      await sleep(POLL_MILLISECONDS)
    }
  }
}

/**
 * Lets PostgreSQL start although `postmaster.pid` names a process number that is in use: by another program (after a
 * reboot, in a container), or by the dead postmaster itself, still a zombie. PostgreSQL ignores the number of its
 * parent, which is ours, so our number replaces it. The rest of the file is kept: by it PostgreSQL finds sessions of
 * the dead postmaster that are still alive, and waits for them.
 */
export async function disownPidFile(clusterFolder: string): Promise<void> {
  const file = join(clusterFolder, 'postmaster.pid')
  const text = await readFile(file, 'utf8').catch(() => undefined)
  if (text === undefined) return
  // Overwritten in place, which keeps the file's owner.
  await writeFile(file, [String(process.pid), ...text.split('\n').slice(1)].join('\n'))
}
