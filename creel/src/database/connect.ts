import { setTimeout as pause } from 'node:timers/promises'
import { type Db, type OpenDatabase, openDatabase } from '@creel/core'
import { migrate, migrationState } from '@creel/migrations'
import type { Logger } from 'pino'
import type { Config } from '../config/index.ts'
import {
  DataFolderInUse,
  findEmbeddedPostgres,
  hasEmbeddedPostgres,
  type RuntimeSource,
  startEmbeddedPostgres,
} from '../embeddedPostgres/index.ts'
import { createLog } from '../log.ts'
import { StartupError } from '../startupError.ts'
import { requireServer } from './serverVersion.ts'

const TURN_SECONDS_MAX = 15

/** An open database, with its own server process if there is one. */
export interface Connected {
  readonly database: OpenDatabase
  readonly url: string
  /** Closes the pool, then stops the embedded PostgreSQL if this process runs it. */
  close(): Promise<void>
  /** Terminates our embedded PostgreSQL at once, without waiting; for the second signal. */
  abandon(): void
}

/** Options of a connection. `maxConnections` bounds the pool; default 16. `searchConnections` those of searches. */
export interface ConnectOptions {
  readonly config: Config
  readonly log: Logger
  /** Source of the embedded PostgreSQL; undefined: the npm package. */
  readonly runtime: RuntimeSource | undefined
  readonly maxConnections?: number
  readonly searchConnections?: number
  /** Whether to wait for a server that is starting, 30 s at most; true by default. */
  readonly waits?: boolean
}

/**
 * Connects the service: to `DATABASE_URL`, else to the embedded PostgreSQL of the data folder, which it starts or
 * adopts.
 */
export async function connectAsOwner(options: ConnectOptions): Promise<Connected> {
  const { config, log, runtime } = options
  if (config.DATABASE_URL !== undefined) return connect(config.DATABASE_URL, options)
  if (runtime?.missing !== undefined) throw new StartupError(runtime.missing)
  const postgres = await startEmbeddedPostgres({
    dataDir: config.CREEL_DATA_DIR,
    log,
    ...(runtime === undefined ? {} : { runtime }),
  })
  const connected = await connect(postgres.url, options).catch(async (error) => {
    await postgres.stop()
    throw error
  })
  return {
    ...connected,
    close: async () => {
      await connected.close()
      await postgres.stop()
    },
    abandon: () => postgres.kill(),
  }
}

/**
 * Connects a command: to the database of a running service, or to one that is started for the duration of the command.
 * Waits while another command or a service is starting or stopping one. Only a service creates a data folder.
 *
 * @throws StartupError when there is none
 */
export async function connectAsGuest(options: ConnectOptions): Promise<Connected> {
  const { config } = options
  if (config.DATABASE_URL !== undefined) return connectAsOwner(options)
  if (!(await hasEmbeddedPostgres(config.CREEL_DATA_DIR))) {
    throw new StartupError(
      `No service and no data folder were found in ${config.CREEL_DATA_DIR}. Nothing was changed. Start one with \`creel serve\`, ` +
        'change to the folder where it was started, or set CREEL_DATA_DIR to its data folder or DATABASE_URL to its database.',
    )
  }
  for (const deadline = performance.now() + TURN_SECONDS_MAX * 1000; ; ) {
    const url = await findEmbeddedPostgres(config.CREEL_DATA_DIR)
    if (url !== undefined) return connect(url, options)
    try {
      return await connectAsOwner(options)
    } catch (error) {
      if (!(error instanceof DataFolderInUse) || performance.now() > deadline) throw error
    }
    await pause(100)
  }
}

/** Runs a task of a command on the database, {@link connectAsGuest connected as a guest}. */
export async function withDatabase<Result>(
  config: Config,
  { runtime }: Pick<ConnectOptions, 'runtime'>,
  task: (db: Db) => Promise<Result>,
): Promise<Result> {
  const log = createLog(config.CREEL_LOG_LEVEL)
  const { database, close } = await connectAsGuest({ config, log, runtime, maxConnections: 2 })
  try {
    return await task(database.db)
  } finally {
    await close()
  }
}

/**
 * Connects a further process of a service, whose first process has opened the database.
 *
 * @throws StartupError when the embedded PostgreSQL does not run
 */
export async function connectBesideOwner(options: ConnectOptions): Promise<Connected> {
  const { DATABASE_URL, CREEL_DATA_DIR } = options.config
  const url = DATABASE_URL ?? (await findEmbeddedPostgres(CREEL_DATA_DIR))
  if (url === undefined) throw new StartupError(`No PostgreSQL runs in ${CREEL_DATA_DIR}.`)
  return connect(url, options)
}

async function connect(
  url: string,
  { log, maxConnections, searchConnections, waits }: ConnectOptions,
): Promise<Connected> {
  const database = openDatabase(url, maxConnections, searchConnections)
  try {
    await requireServer(database.db, { warn: (words) => log.warn(words), waits })
  } catch (error) {
    await database.close()
    throw error
  }
  return { database, url, close: () => database.close(), abandon: () => undefined }
}

/**
 * Makes sure that a database has the schema of this build.
 *
 * @param mayMigrate runs pending migrations; else they are an error
 * @throws StartupError for a schema of a newer version, or one that lacks migrations
 */
export async function requireSchema(db: Db, { mayMigrate }: { readonly mayMigrate: boolean }): Promise<void> {
  const { pending, unknown } = await migrationState(db)
  if (unknown.length > 0) {
    throw new StartupError(
      `A newer version of creel has migrated this database (${unknown.join(', ')}). Run that version.`,
    )
  }
  if (pending.length === 0) return
  if (!mayMigrate) throw new StartupError('The database has pending migrations. Run `creel migrate` first.')
  await migrate(db)
}
