import { Database, SQLiteError } from 'bun:sqlite'
import { closeSync, fchmodSync, openSync } from 'node:fs'
import { chmod, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { backoffMs } from '@creel/core/platform/time'
import type { Logger } from 'pino'
import { StartupError, wordsOf } from '../startupError.ts'
import { makeCluster, makeDatabase } from './cluster.ts'
import { findHome, openHome, type PostgresHome } from './home.ts'
import {
  answersQueries,
  disownPidFile,
  isPostmaster,
  readPidFile,
  runsFrom,
  socketUrl,
  startPostmaster,
  stopPostmaster,
} from './postmaster.ts'
import { installRuntime, packageRuntime, type RuntimeSource, runtimeFolderOf } from './runtime.ts'
import { keepWalRoom } from './walRoom.ts'

/** Another process owns the data folder. */
export class DataFolderInUse extends StartupError {}

/**
 * Takes the data folder for this process. The lock is SQLite's exclusive transaction: it works on every system that Bun
 * runs on, also between two owners in one process, and the kernel releases it when the process dies in any way. Nothing
 * is ever written to that database.
 *
 * @throws DataFolderInUse naming the process that holds it; StartupError when the folder cannot be written
 */
async function lockDataFolder(dataDir: string) {
  const pidFile = join(dataDir, 'owner.pid')
  const lockFile = join(dataDir, 'owner.lock')
  const database = openLockFile(lockFile)
  try {
    database.run('BEGIN EXCLUSIVE')
  } catch (cause) {
    database.close()
    if (!(cause instanceof SQLiteError) || !cause.code?.startsWith('SQLITE_BUSY'))
      throw unwritable(lockFile, cause)
    const holder = (await readFile(pidFile, 'utf8').catch(() => '')).trim()
    throw new DataFolderInUse(
      `The data folder ${dataDir} is in use by another creel${holder === '' ? '' : ` (process ${holder})`}. ` +
        'Stop it, set CREEL_DATA_DIR to another folder, or give both processes the same DATABASE_URL.',
      { cause },
    )
  }
  try {
    await writeFile(pidFile, `${process.pid}\n`, { mode: 0o600 })
    // An earlier release may have made it with another mode.
    await chmod(pidFile, 0o600)
  } catch (cause) {
    database.close()
    throw unwritable(pidFile, cause)
  }
  return { release: () => database.close() }
}

function openLockFile(file: string): Database {
  try {
    // Mode 0600, because every user that can open the file could lock it and keep the service from starting.
    const descriptor = openSync(file, 'a', 0o600)
    fchmodSync(descriptor, 0o600)
    closeSync(descriptor)
    return new Database(file, { create: true })
  } catch (cause) {
    throw unwritable(file, cause)
  }
}

const unwritable = (file: string, cause: unknown) =>
  new StartupError(
    `${file} cannot be written: ${wordsOf(cause)}. Check that the data folder belongs to your user, and that its disk has room.`,
    { cause },
  )

const DATABASE = 'creel'

/** Time for a postmaster with a dead parent to answer (it may be recovering) before it is stopped. */
const ADOPTION_SECONDS_MAX = 20

export interface EmbeddedPostgresOptions {
  /** The service's data folder; created if absent. */
  readonly dataDir: string
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
  /** False trades safety for speed (no fsync), for tests that may lose everything. Default true. */
  readonly durable?: boolean
  /** Source of the binaries; default the installed npm package. */
  readonly runtime?: RuntimeSource
}

/** A running PostgreSQL; its data folder belongs to this process until `stop` resolves. */
export interface EmbeddedPostgres {
  /** URL of the service's database over the unix socket, in node-postgres' form. */
  readonly url: string
  /** Whether it was already running, left by an owner that was killed. */
  readonly adopted: boolean
  /** The postmaster's current process number; it changes when the postmaster is restarted. */
  readonly pid: () => number
  /** Stops it (`fast`) and releases the data folder. May be called twice. */
  stop(): Promise<void>
  /** Terminates it at once and without waiting (`immediate`): the next start recovers from its log. */
  kill(): void
}

/**
 * Starts the PostgreSQL 18 of a data folder, or adopts the one that a killed owner left running there. Restarts it when
 * it dies; all acknowledged data is recovered from its log.
 *
 * One process owns a data folder. As root, PostgreSQL runs under another account (`home.ts`).
 *
 * @throws StartupError when the folder has an owner already, or PostgreSQL does not start
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { dataDir, log, durable = true } = options
  const home = await openHome(dataDir)
  const lock = await lockDataFolder(dataDir)
  try {
    const source = options.runtime ?? (await packageRuntime())
    let adoptedPid = await adopt(home, runtimeFolderOf(home, source), log)
    const runtimeFolder = await installRuntime(home, source)
    const start = () => startPostmaster(home, runtimeFolder, durable)
    const adopted = adoptedPid !== undefined
    if (adoptedPid === undefined) {
      await makeCluster(home, runtimeFolder)
      adoptedPid = await start()
    }
    await makeDatabase(socketUrl(home.socketFolder, 'postgres'), DATABASE)
    const supervisor = keepRunning({
      pid: adoptedPid,
      home,
      log,
      start: async () => (await adopt(home, runtimeFolder, log)) ?? start(),
    })
    const url = socketUrl(home.socketFolder, DATABASE)
    // Without durability no commit waits for the disk.
    const walRoom = durable ? keepWalRoom(home, url, log) : undefined
    let stopped: Promise<void> | undefined
    return {
      url,
      adopted,
      pid: supervisor.pid,
      stop: () => {
        stopped ??= (async () => {
          try {
            await walRoom?.stop()
            await supervisor.stop()
          } finally {
            lock.release()
          }
        })()
        return stopped
      },
      kill: () => {
        void walRoom?.stop()
        supervisor.kill()
      },
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

/**
 * The URL of the embedded PostgreSQL that runs in a data folder, for commands next to a running service; undefined when
 * none runs there.
 */
export async function findEmbeddedPostgres(dataDir: string): Promise<string | undefined> {
  const home = await findHome(dataDir)
  if (home === undefined) return undefined
  const mark = await readPidFile(home.clusterFolder)
  if (mark === undefined || !(await isPostmaster(mark.pid, home.clusterFolder))) return undefined
  // The file is incomplete: PostgreSQL is starting and takes no connections yet.
  if (mark.socketFolder === '') return undefined
  const url = socketUrl(mark.socketFolder, DATABASE)
  return (await answersQueries(url)) ? url : undefined
}

/** Whether the data folder contains a database. Changes nothing. */
export async function hasEmbeddedPostgres(dataDir: string): Promise<boolean> {
  return (await findHome(dataDir)) !== undefined
}

/**
 * Adopts a postmaster that outlived its owner, if it answers at the expected address and runs the expected binaries.
 * Any other one is stopped.
 */
async function adopt(
  home: PostgresHome,
  runtimeFolder: string,
  log: EmbeddedPostgresOptions['log'],
): Promise<number | undefined> {
  const deadline = performance.now() + ADOPTION_SECONDS_MAX * 1000
  let mark = await readPidFile(home.clusterFolder)
  while (mark !== undefined && (await isPostmaster(mark.pid, home.clusterFolder))) {
    const isFound =
      (mark.socketFolder === home.socketFolder || mark.status === '') &&
      (await runsFrom(mark.pid, runtimeFolder))
    if (
      isFound &&
      mark.status !== 'stopping' &&
      (await answersQueries(socketUrl(home.socketFolder, 'postgres')))
    ) {
      log.info({ pid: mark.pid }, 'reused the embedded PostgreSQL of a killed creel process')
      return mark.pid
    }
    if (!isFound || performance.now() > deadline) {
      log.warn(
        { pid: mark.pid },
        'stopping an embedded PostgreSQL of another version, or one that does not answer',
      )
      await stopPostmaster(mark.pid, home.clusterFolder)
    }
    await sleep(50)
    mark = await readPidFile(home.clusterFolder)
  }
  if (mark !== undefined) await disownPidFile(home.clusterFolder)
  return undefined
}

const CHECK_MILLISECONDS = 250
const RETRY_MILLISECONDS = { first: CHECK_MILLISECONDS, max: 5000 } as const

interface Supervised {
  readonly pid: number
  readonly home: PostgresHome
  readonly log: Pick<Logger, 'warn' | 'error'>
  /** Restarts it and returns its process number. */
  readonly start: () => Promise<number>
}

/** Watches a postmaster, started or adopted, and restarts it when it dies; meanwhile the service waits. */
function keepRunning({ pid: firstPid, home, log, start }: Supervised) {
  let pid = firstPid
  let stopping = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let check: Promise<void> = Promise.resolve()

  const schedule = (milliseconds: number, failures: number) => {
    timer = setTimeout(() => {
      check = watch(failures)
    }, milliseconds)
    timer.unref()
  }

  const watch = async (failures: number): Promise<void> => {
    if (stopping) return
    if (await isPostmaster(pid, home.clusterFolder)) return schedule(CHECK_MILLISECONDS, 0)
    log.warn({ pid }, 'the embedded PostgreSQL died: restarting it')
    try {
      pid = await start()
      if (!stopping) schedule(CHECK_MILLISECONDS, 0)
    } catch (error) {
      log.error({ err: error }, 'the embedded PostgreSQL does not start')
      if (!stopping) schedule(backoffMs(RETRY_MILLISECONDS, failures), failures + 1)
    }
  }

  schedule(CHECK_MILLISECONDS, 0)
  return {
    pid: () => pid,
    kill: () => {
      stopping = true
      clearTimeout(timer)
      try {
        process.kill(pid, 'SIGQUIT')
      } catch {
        // Gone already.
      }
    },
    /** Stops watching, lets a pending restart finish, stops the postmaster, and removes its socket's folder. */
    stop: async () => {
      stopping = true
      clearTimeout(timer)
      await check
      await stopPostmaster(pid, home.clusterFolder)
      // It may be outside of the home, where it would be left behind.
      await rm(home.socketFolder, { recursive: true, force: true })
    },
  }
}
