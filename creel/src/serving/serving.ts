import { statfs } from 'node:fs/promises'
import { type Db, type OpenDatabase, systemClock } from '@creel/core'
import { hasOtherWorkspaces, RELAY_AUDIT_DAYS, relayPlans } from '@creel/core/relay'
import { readStorage } from '@creel/core/retention'
import type { Environment } from '@creel/terminal/tools'
import type { Logger } from 'pino'
import { type Config, configsOfCells, mailOptions } from '../config/index.ts'
import { type Connected, connectAsOwner, requireSchema } from '../database/index.ts'
import { WAL_ROOM_BYTES } from '../embeddedPostgres/index.ts'
import { type FirstProcess, startProcesses } from '../gateways/index.ts'
import type { ProgramParts } from '../programParts.ts'
import { secretKeysOf } from '../secretKey.ts'
import {
  type GatewayProcesses,
  PortTaken,
  type RunningService,
  type ServicePart,
  startService,
} from '../service/index.ts'
import { hostInUrl, removeServiceFile, writeServiceFile } from '../serviceFile.ts'
import { registerService, unregisterService } from '../serviceRegistry.ts'
import { StartupError } from '../startupError.ts'
import { VERSION } from '../version.ts'
import {
  type CellsOptions,
  connectHome,
  type HomeCell,
  type KeptCells,
  keepCells,
  openReplica,
  shareOfProcess,
} from './servingCells.ts'

export interface ServingOptions {
  readonly config: Config
  readonly log: Logger
  readonly program: ProgramParts
  readonly parts: ReadonlySet<ServicePart>
  /** Takes a free port if the configured one is in use; false by default. */
  readonly takesAnotherPort?: boolean
  /** Serves a relay instead of a usual service; false by default. */
  readonly isRelay?: boolean
  /** Called with a function that ends further processes and an embedded PostgreSQL at once, as soon as any may run. */
  readonly onConnected?: (abandon: () => void) => void
  /** Gateway processes of the program, with the environment of further ones; one by default. */
  readonly gateways?: {
    readonly count: number
    readonly env: Environment
  }
}

/** A running service in this process, on a migrated database. */
export interface Serving {
  readonly service: RunningService
  /** Listening address as a URL for this machine. */
  readonly localUrl: string
  /** Drains the service, and closes the database. Commands stop finding it at once. */
  close(): Promise<void>
}

/**
 * Opens the database, migrates it and starts the service on it. With an embedded PostgreSQL, commands find the service
 * through its data folder and through the user's registry.
 *
 * @throws StartupError with a message that an operator can act on
 */
export async function openServing(options: ServingOptions): Promise<Serving> {
  const processes = startFurther(options)
  try {
    return await openFirst(options, processes)
  } catch (error) {
    processes?.abandon()
    throw error
  }
}

function startFurther({ gateways, log, program }: ServingOptions): FirstProcess | undefined {
  const { serveWords } = program
  if (gateways === undefined || gateways.count === 1 || serveWords === undefined) return undefined
  return startProcesses({ processes: gateways.count, words: serveWords, env: gateways.env, log })
}

async function openFirst(options: ServingOptions, processes: FirstProcess | undefined): Promise<Serving> {
  const { log, onConnected } = options
  const { config, connected } = await openHome(options, processes, connectAsOwner)
  onConnected?.(() => {
    processes?.abandon()
    connected.abandon()
  })
  const replica = openReplica(config, processes)
  const closeDatabases = async () => {
    await replica?.close()
    await connected.close()
  }
  try {
    if (config.cell === null) await requireSchema(connected, { mayMigrate: true })
    if (options.isRelay === true && (await hasOtherWorkspaces(connected.database.db))) {
      throw new StartupError(
        'This database has workspaces that are not of a relay. A relay needs a database, or a data folder, of its own.',
      )
    }
    const storageMaxBytes = await storageMaxOf(config, connected.database.db)
    const service = await startOn({ ...options, config }, connected, {
      replica,
      storageMaxBytes,
      port: config.CREEL_PORT,
      processes,
    })
    if (processes !== undefined && service.port !== undefined) {
      await processes
        .open({ version: VERSION, port: service.port, storageMaxBytes }, service)
        .catch(async (error: unknown) => {
          await service.stop()
          throw error
        })
    }
    const cells = otherCells(service, { config, connected }, { log, processes })
    // Commands of the user must not take a relay for their own service.
    const isLocal =
      config.DATABASE_URL === undefined && service.port !== undefined && options.isRelay !== true
    const localUrl = `http://${hostInUrl(config.CREEL_HOST)}:${service.port}`
    if (isLocal) {
      await writeServiceFile(config.CREEL_DATA_DIR, localUrl)
      await registerService(process.env, { url: localUrl, dataDir: config.CREEL_DATA_DIR }).catch(
        (err: unknown) =>
          log.debug({ err }, 'the service is not registered: commands find it from its folder only'),
      )
    }
    return {
      service,
      localUrl,
      async close() {
        try {
          if (isLocal) {
            await unregisterService(process.env, config.CREEL_DATA_DIR)
            await removeServiceFile(config.CREEL_DATA_DIR)
          }
          await cells?.stop()
          await Promise.all([processes?.stop(), service.stop()])
        } finally {
          await cells?.close()
          await closeDatabases()
        }
      },
    }
  } catch (error) {
    await closeDatabases()
    throw error
  }
}

/**
 * Opens the database on which the service starts: the only one, or the first cell that answers.
 *
 * @param connect connects to the only one
 */
export async function openHome(
  { config, log, program }: Pick<ServingOptions, 'config' | 'log' | 'program'>,
  processes: GatewayProcesses | undefined,
  connect: typeof connectAsOwner,
): Promise<HomeCell> {
  if (config.cell !== null) return await connectHome(configsOfCells(config), { log, processes })
  const share = shareOfProcess(config, processes)
  const connected = await connect({
    config,
    log,
    runtime: program.runtime,
    maxConnections: share.database,
    searchConnections: share.searches,
  })
  return { config, connected }
}

/** Serves the cells other than the home; undefined in an installation without cells. */
export function otherCells(
  service: RunningService,
  home: HomeCell,
  options: CellsOptions,
): KeptCells | undefined {
  if (home.config.cell === null) return undefined
  const others = configsOfCells(home.config).filter(({ cell }) => cell?.name !== home.config.cell?.name)
  return keepCells(service, { home, others }, options)
}

/** Decisions of the first gateway process for all. */
interface Place {
  readonly replica: OpenDatabase | undefined
  readonly storageMaxBytes: number | null
  readonly port: number
  readonly processes: GatewayProcesses | undefined
}

/** Starts the service on an open, migrated database. */
export async function startOn(
  { config, log, program, parts, takesAnotherPort, isRelay = false }: ServingOptions,
  connected: Pick<Connected, 'database' | 'url'>,
  { replica, storageMaxBytes, port: wantedPort, processes }: Place,
): Promise<RunningService> {
  const [secretKey, ...formerSecretKeys] = await secretKeysOf(config, connected.database.db)
  const hasConsole = config.CREEL_CONSOLE === 'on' && !isRelay
  const consolePack = hasConsole ? await program.consolePack?.() : undefined
  const start = (port: number) =>
    startService({
      database: connected.database,
      replica,
      databaseUrl: connected.url,
      cell: config.cell ?? undefined,
      cells: config.cell === null ? undefined : configsOfCells(config).flatMap(({ cell }) => cell ?? []),
      parts,
      host: config.CREEL_HOST,
      port,
      baseUrl: config.CREEL_BASE_URL,
      captureUrl: config.CREEL_CAPTURE_URL,
      secretKey,
      formerSecretKeys,
      plans: isRelay ? relayPlans() : config.plans,
      isRelay,
      defaultPlan: config.CREEL_DEFAULT_PLAN,
      auditRetentionDays: isRelay ? RELAY_AUDIT_DAYS : config.CREEL_AUDIT_RETENTION_DAYS,
      storageMaxBytes,
      allowDestinations: config.CREEL_ALLOW_DESTINATIONS,
      formerHosts: config.CREEL_FORMER_HOSTS,
      metricsPort: config.CREEL_METRICS_PORT,
      metricsToken: config.CREEL_METRICS_TOKEN,
      mail: mailOptions(config),
      alertApiUrls: config.CREEL_ALERT_API_URLS,
      providerApiUrls: config.CREEL_PROVIDER_API_URLS,
      retryDelaysSeconds: config.CREEL_RETRY_SCHEDULE,
      trustedProxies: config.CREEL_TRUSTED_PROXIES,
      hasConsole,
      hasOAuth: config.CREEL_OAUTH === 'on',
      consolePack,
      connectionLimits: {
        ...(config.CREEL_CONNECTIONS_MAX && { connectionsMax: config.CREEL_CONNECTIONS_MAX }),
        connectionsPerAddressMax: config.CREEL_CONNECTIONS_PER_ADDRESS,
      },
      processes,
      warmsUp: true,
      dispatches: config.CREEL_DISPATCH === 'on',
      queueConnections: shareOfProcess(config, processes).queue,
      log,
      clock: systemClock,
      version: VERSION,
    })
  return await start(wantedPort).catch((error: unknown) => {
    if (takesAnotherPort === true && error instanceof PortTaken) return start(0)
    throw error
  })
}

/** Share of the disk's free space that captures may take. */
const SHARE_OF_FREE = 0.8

/**
 * Limit of what captures take in all, in bytes: the configured one. Else, with the embedded database, what they take already and 80 % of
 * the space that is free at the start, less what segments of the WAL ahead take. Null is no limit.
 */
async function storageMaxOf(config: Config, db: Db): Promise<number | null> {
  const { CREEL_STORAGE_MAX: configured, CREEL_DATA_DIR: folder } = config
  if (configured === 'off') return null
  if (configured !== undefined) return configured
  // The free space of another machine is unknown.
  if (config.DATABASE_URL !== undefined) return null
  const { bavail, bsize } = await statfs(folder)
  const { totalBytes } = await readStorage(db)
  const free = Math.max(0, bavail * bsize - WAL_ROOM_BYTES)
  return Math.floor(SHARE_OF_FREE * free) + totalBytes
}
