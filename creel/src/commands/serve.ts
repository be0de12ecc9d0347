import { openDatabase, systemClock } from '@creel/core'
import { migrate, migrationState } from '@creel/migrations'
import { type Command, Option } from 'commander'
import { type Config, decodeConfig, mailOptions } from '../config/index.ts'
import { type Connected, connectAsOwner } from '../database/index.ts'
import { EXIT } from '../exitCodes.ts'
import { firstBoot } from '../firstBoot.ts'
import { hostInUrl } from '../hostInUrl.ts'
import { createLog } from '../log.ts'
import { secretKeysOf } from '../secretKey.ts'
import { type RunningService, type ServicePart, startService } from '../service/index.ts'
import { removeServiceFile, writeServiceFile } from '../serviceFile.ts'
import { StartupError } from '../startupError.ts'
import { listenForStop } from '../stopping.ts'
import { storageMaxOf } from '../storageMax.ts'
import { VERSION } from '../version.ts'
import { printHint, printText } from './print.ts'
import type { ProgramParts } from './programParts.ts'

/** `creel serve` */
export function addServeCommand(command: Command, parts: ProgramParts): void {
  command
    .addOption(
      new Option('--only <part>', 'run one half, beside others on the same DATABASE_URL').choices([
        'gateway',
        'jobs',
      ]),
    )
    .action(async ({ only }: { only?: ServicePart }) => {
      await serve(parts, only === undefined ? new Set(['gateway', 'jobs'] as const) : new Set([only]))
    })
}

async function serve(
  { runtime, stopWhen, consolePack }: ProgramParts,
  parts: ReadonlySet<ServicePart>,
): Promise<void> {
  const { config, warnings } = decodeConfig(process.env)
  const log = createLog(config.CREEL_LOG_LEVEL)
  for (const warning of warnings) log.warn(warning)

  let connected: Connected | undefined
  let exitCode: number = EXIT.ok
  const stopAsked = listenForStop({ log, stopWhen, abandon: () => connected?.abandon() })
  connected = await connectAsOwner({
    config,
    log,
    runtime,
    maxConnections: config.CREEL_DATABASE_CONNECTIONS,
  })
  const replica =
    config.CREEL_DATABASE_READ_URL === undefined
      ? undefined
      : openDatabase(config.CREEL_DATABASE_READ_URL, config.CREEL_DATABASE_CONNECTIONS)
  try {
    await bringUpToDate(connected)
    const [secretKey, ...formerSecretKeys] = await secretKeysOf(config, connected.database.db)
    const service = await startService({
      database: connected.database,
      replica,
      databaseUrl: connected.url,
      parts,
      host: config.CREEL_HOST,
      port: config.CREEL_PORT,
      baseUrl: config.CREEL_BASE_URL,
      captureUrl: config.CREEL_CAPTURE_URL,
      secretKey,
      formerSecretKeys,
      plans: config.plans,
      defaultPlan: config.CREEL_DEFAULT_PLAN,
      auditRetentionDays: config.CREEL_AUDIT_RETENTION_DAYS,
      storageMaxBytes: await storageMaxOf(config, connected.database.db),
      allowDestinations: config.CREEL_ALLOW_DESTINATIONS,
      formerHosts: config.CREEL_FORMER_HOSTS,
      metricsPort: config.CREEL_METRICS_PORT,
      mail: mailOptions(config),
      alertApiUrls: config.CREEL_ALERT_API_URLS,
      retryDelaysSeconds: config.CREEL_RETRY_SCHEDULE,
      trustedProxies: config.CREEL_TRUSTED_PROXIES,
      hasConsole: config.CREEL_CONSOLE === 'on',
      consolePack: config.CREEL_CONSOLE === 'on' ? await consolePack?.() : undefined,
      connectionLimits: {
        ...(config.CREEL_CONNECTIONS_MAX && { connectionsMax: config.CREEL_CONNECTIONS_MAX }),
        connectionsPerAddressMax: config.CREEL_CONNECTIONS_PER_ADDRESS,
      },
      queueConnections: config.CREEL_QUEUE_CONNECTIONS,
      log,
      clock: systemClock,
      version: VERSION,
    })
    const isLocal = config.DATABASE_URL === undefined && service.port !== undefined
    const localUrl = `http://${hostInUrl(config.CREEL_HOST)}:${service.port}`
    if (isLocal) await writeServiceFile(config.CREEL_DATA_DIR, localUrl)
    await announce(service, parts, config)
    const stop = await stopAsked
    exitCode = stop.exitCode
    log.info({ reason: stop.reason }, 'draining: what is in flight may end')
    if (isLocal) await removeServiceFile(config.CREEL_DATA_DIR)
    await service.stop()
  } finally {
    await replica?.close()
    await connected.close()
  }
  log.info('stopped')
  process.exit(exitCode)
}

async function bringUpToDate({ database }: Connected): Promise<void> {
  const { pending, unknown } = await migrationState(database.db)
  if (unknown.length > 0) {
    throw new StartupError(`A newer creel has upgraded this database (${unknown.join(', ')}): use that one.`)
  }
  if (pending.length > 0) await migrate(database.db)
}

/** The lines for scripts go to stdout whatever the log level; the greeting for people goes to stderr. */
async function announce(
  service: RunningService,
  parts: ReadonlySet<ServicePart>,
  config: Config,
): Promise<void> {
  if (!parts.has('gateway')) return printText('creel ready jobs')
  const first = await firstBoot(service.services, config.CREEL_CONSOLE === 'on')
  if (first !== undefined) {
    printText(`creel key ${first.key}`, `creel endpoint ${first.captureUrl}`)
    if (config.CREEL_LOG_LEVEL !== 'silent') {
      printHint(
        '',
        'The key above is shown only this once. Send a webhook to your first endpoint, and read it back:',
        '',
        `  curl -d '{"hello":"world"}' -H 'Content-Type: application/json' ${first.captureUrl}`,
        // The key itself is on stdout only: stderr often ends in a log.
        `  curl -H 'Authorization: Bearer <the key>' ${first.requestsUrl}`,
        '',
      )
      if (first.signInUrl !== null) {
        printHint(
          'Or watch it arrive (the link works once, for 15 minutes; `creel console` makes another):',
          '',
        )
        printHint(`  ${first.signInUrl}`, '')
      }
    }
    if (first.signInUrl !== null) printText(`creel console ${first.signInUrl}`)
  }
  printText(`creel ready base=${service.urls.baseUrl} capture=${service.urls.captureUrl}`)
}
