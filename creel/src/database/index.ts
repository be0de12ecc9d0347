import { setTimeout as sleep } from 'node:timers/promises'
import { type Db, type OpenDatabase, openDatabase, run, statement } from '@creel/core'
import { codeOf } from '@creel/core/platform/db'
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
import { StartupError, wordsOf } from '../startupError.ts'

const TURN_SECONDS_MAX = 15

/** An open database, with its own server process if there is one. */
export interface Connected {
  readonly database: OpenDatabase
  readonly url: string
  /** Whether this process runs the embedded PostgreSQL. Else a service of another version may use the database. */
  readonly isOwner: boolean
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
  /** Whether statements have no limit of time, as of a command that may take hours; false by default. */
  readonly isLong?: boolean
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
    isOwner: true,
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
    await sleep(100)
  }
}

/** Runs a task of a command on the database, {@link connectAsGuest connected as a guest}. */
export async function withDatabase<Result>(
  config: Config,
  { runtime }: Pick<ConnectOptions, 'runtime'>,
  task: (db: Db) => Promise<Result>,
): Promise<Result> {
  const log = createLog(config.CREEL_LOG_LEVEL)
  const { database, close } = await connectAsGuest({ config, log, runtime, maxConnections: 2, isLong: true })
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
  { log, maxConnections, searchConnections, waits, isLong }: ConnectOptions,
): Promise<Connected> {
  const database = openDatabase(url, maxConnections, searchConnections, isLong === true ? 0 : undefined)
  try {
    await requireServer(database.db, { warn: (words) => log.warn(words), waits })
  } catch (error) {
    await database.close()
    throw error
  }
  return { database, url, isOwner: false, close: () => database.close(), abandon: () => undefined }
}

/**
 * Makes sure that a database has the schema of this build.
 *
 * @param mayMigrate runs pending migrations; else they are an error
 * @throws StartupError for a schema of a newer version, or one that lacks migrations
 */
export async function requireSchema({ database, url }: Connected, { mayMigrate }: { mayMigrate: boolean }) {
  const { pending } = await refuseNewerSchema(database.db)
  if (pending.length === 0) return
  if (!mayMigrate) throw new StartupError('The database has pending migrations. Run `creel migrate` first.')
  const unlimited = openDatabase(url, 1, 1, 0)
  await withRights(database.db, () => migrate(unlimited.db)).finally(unlimited.close)
}

/** `insufficient_privilege` */
const NO_RIGHT = '42501'

const MISSING_GRANTS = statement(
  'missing grants',
  `select array_remove(array[
    case when not has_database_privilege(current_database(), 'create')
      then format('grant create on database %I to %I', current_database(), current_user) end,
    case when has_schema_privilege(to_regnamespace(s.name), 'create') is not true
      then format('grant create on schema %I to %I', s.name, current_user) end
  ], null) as grants
  from (select coalesce(current_schema(), 'public') as name) s`,
  { isPrepared: false, notNull: ['grants'] },
)

/**
 * Runs work that creates or changes tables.
 *
 * @throws StartupError with the rights that the role lacks for it
 */
export async function withRights<Result>(db: Db, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    if (codeOf(cause) !== NO_RIGHT) throw cause
    const [{ grants } = { grants: [] }] = await run(db, MISSING_GRANTS, [])
    const remedy =
      grants.length === 0
        ? 'It must own the tables.'
        : `Let the owner of the database run: ${grants.join('; ')};`
    throw new StartupError(
      `The role of the database may not make the tables of creel (${wordsOf(cause)}). ${remedy}`,
      { cause },
    )
  }
}

/** @throws StartupError for a schema of a newer version */
export async function refuseNewerSchema(db: Db): ReturnType<typeof migrationState> {
  const state = await migrationState(db)
  if (state.unknown.length === 0) return state
  const names = state.unknown.join(', ')
  throw new StartupError(`A newer version of creel has migrated this database (${names}). Run that version.`)
}

const OLDEST_MAJOR_VERSION = 15
const WAIT_SECONDS_MAX = 30
const RETRY_MILLISECONDS = 500

/** Errors while PostgreSQL is still starting (in compose, after a reboot). */
const PASSING_CODES = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ETIMEDOUT',
  '53300',
  '57P03',
])

const TLS_WORDS: readonly [pattern: RegExp, words: string][] = [
  [
    /^(UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT(_LOCALLY)?|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|CERT_UNTRUSTED)$/,
    'its certificate is not signed by the CA in sslrootcert, or by a CA of the system if that is not set',
  ],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'its certificate is for another name than the host of the URL'],
  [/^CERT_HAS_EXPIRED$/, 'its certificate has expired'],
  [/^CERT_NOT_YET_VALID$/, 'its certificate is not valid yet'],
  [/does not support SSL connections/, 'it does not offer TLS, which sslmode requires'],
]

/** Explains a TLS error to the author of the URL; undefined for another error. */
function tlsWords(code: string, message: string): string | undefined {
  return TLS_WORDS.find(([pattern]) => pattern.test(code) || pattern.test(message))?.[1]
}

const VERSION = statement(
  'version of server',
  `select current_setting('server_version_num') as version, current_setting('server_encoding') as encoding`,
  { isPrepared: false, notNull: ['version', 'encoding'] },
)

/**
 * Waits for the database to answer, and checks its version.
 *
 * @param options `warn` is called once with the reason for waiting; `waits`: false does not wait, true by default
 * @throws StartupError when it is too old, does not store UTF8, refuses us, or does not answer within 30 s
 */
export async function requireServer(
  db: Db,
  { warn, waits = true }: { readonly warn: (words: string) => void; readonly waits?: boolean | undefined },
): Promise<void> {
  const deadline = performance.now() + (waits ? WAIT_SECONDS_MAX * 1000 : 0)
  for (let hasWaited = false; ; hasWaited = true) {
    try {
      const rows = await run(db, VERSION, [])
      const [{ version, encoding } = { version: '0', encoding: '' }] = rows
      const major = Math.floor(Number(version) / 10_000)
      if (encoding !== 'UTF8') {
        throw new StartupError(
          `The encoding of the database is ${encoding}; creel needs UTF8, because requests hold text in any language. ` +
            "Create it with `create database creel encoding 'UTF8' template template0`.",
        )
      }
      if (major >= OLDEST_MAJOR_VERSION) return
      throw new StartupError(
        `DATABASE_URL points to PostgreSQL ${major}; creel needs ${OLDEST_MAJOR_VERSION} or newer.`,
      )
    } catch (error) {
      if (error instanceof StartupError) throw error
      const { code, message } = describe(error)
      if (!PASSING_CODES.has(code) || performance.now() > deadline) {
        const words = tlsWords(code, message)
        const reason = words === undefined ? message : `${words} (${message})`
        throw new StartupError(`The database cannot be used: ${reason}. Check DATABASE_URL.`, {
          cause: error,
        })
      }
      if (!hasWaited) warn(`waiting for the database: ${message}`)
      await sleep(RETRY_MILLISECONDS)
    }
  }
}

/**
 * Code and message of an error. Node bundles the errors of several addresses of one name, and leaves the bundle's
 * message empty.
 */
function describe(error: unknown): { code: string; message: string } {
  const [first = error] = error instanceof AggregateError ? error.errors : []
  const code = first instanceof Error && 'code' in first ? String(first.code) : ''
  return { code, message: first instanceof Error ? first.message || code : String(first) }
}
