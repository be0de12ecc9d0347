import { migrationState } from '@creel/migrations'
import { printHint, printText } from '@creel/terminal/output/print'
import type { Environment } from '@creel/terminal/tools'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { type Config, ConfigError, decodeConfig } from '../config/index.ts'
import { connectBesideOwner } from '../database/index.ts'
import { type FirstBoot, firstBoot } from '../firstBoot.ts'
import { gatewayCount, joinFirstProcess, type Membership } from '../gateways/index.ts'
import { createLog, logWritten } from '../log.ts'
import { retentionLine } from '../longRetention.ts'
import type { ProgramParts } from '../programParts.ts'
import { readyBlock, SHORT_NAMES, shellWord } from '../readyBlock.ts'
import type { RunningService, ServicePart } from '../service/index.ts'
import { openHome, openServing, otherCells, type ServingOptions, startOn } from '../serving/serving.ts'
import { openReplica } from '../serving/servingCells.ts'
import { StartupError } from '../startupError.ts'
import { listenForStop } from '../stopping.ts'
import { VERSION } from '../version.ts'

/**
 * Starts the service of a further gateway process, on the port and the database of the first one.
 *
 * @throws StartupError when the program on the disk is no longer the one that the first process runs
 */
async function openMember(
  options: Pick<ServingOptions, 'config' | 'log' | 'program' | 'parts'>,
  { settings, processes, serve, leave }: Membership,
): Promise<{ close(): Promise<void> }> {
  const { log } = options
  const replaced = 'The program was replaced while it runs: restart the service.'
  if (settings.version !== VERSION) throw new StartupError(replaced)
  const { config, connected } = await openHome(options, processes, connectBesideOwner)
  const replica = openReplica(config, processes)
  const { pending, unknown } = await migrationState(connected.database.db)
  if (pending.length > 0 || unknown.length > 0) throw new StartupError(replaced)
  const service = await startOn({ ...options, config }, connected, {
    replica,
    storageMaxBytes: settings.storageMaxBytes,
    port: settings.port,
    processes,
  })
  const cells = otherCells(service, { config, connected }, { log, processes })
  serve(service)
  return {
    async close() {
      await cells?.stop()
      await service.stop()
      await cells?.close()
      await replica?.close()
      await connected.close()
      await leave()
    },
  }
}

/** Options of a service that override variables. */
export interface PlaceOptions {
  readonly port?: string
  readonly data?: string
}

interface ServeOptions extends PlaceOptions {
  readonly only?: ServicePart
  readonly gateways?: string
  readonly member?: true
}

/** Adds `--port` and `--data` to a command that starts a service. */
export function withPlaceOptions(command: Command): Command {
  return command
    .option(
      '--port <port>',
      'port to listen on, 0 for any free port; default CREEL_PORT, else 4400',
      portOption,
    )
    .option('--data <folder>', 'data folder; default CREEL_DATA_DIR, else .creel')
}

/** Refuses what is no number, also where a service runs already and no port is needed. Empty is as if not given. */
function portOption(text: string): string {
  if (/^\d{0,5}$/.test(text)) return text
  throw new InvalidArgumentError('Give a port number, 0 to 65535.')
}

/** The environment, overridden by `--port` and `--data`. */
export const environmentWith = (
  environment: Environment,
  { port, data, gateways }: PlaceOptions & Pick<ServeOptions, 'gateways'>,
): Environment => ({
  ...environment,
  ...(gateways === undefined ? {} : { CREEL_GATEWAYS: gateways }),
  ...(port === undefined ? {} : { CREEL_PORT: port }),
  ...(data === undefined ? {} : { CREEL_DATA_DIR: data }),
})

export function addServeCommand(command: Command, parts: ProgramParts): void {
  withPlaceOptions(command)
    .addOption(
      new Option(
        '--only <part>',
        'run one part only, beside other processes on the same DATABASE_URL',
      ).choices(['gateway', 'jobs']),
    )
    .option(
      '--gateways <number>',
      'gateway processes on the port (Linux); default CREEL_GATEWAYS, else by cores',
    )
    // How the first of several gateway processes starts the others.
    .addOption(new Option('--member').hideHelp())
    .action(async (options: ServeOptions) => {
      const { only } = options
      const halves = only === undefined ? new Set(['gateway', 'jobs'] as const) : new Set([only])
      const environment = environmentWith(process.env, options)
      if (options.member === true) await serveAsMember(parts, halves, decodeConfig(environment))
      else await serve(parts, halves, environment)
    })
}

/**
 * Runs a service, or a relay, until it is stopped. Ends the process.
 *
 * @throws ConfigError, StartupError
 */
export async function serve(
  program: ProgramParts,
  parts: ReadonlySet<ServicePart>,
  environment: Environment,
  { isRelay = false }: { readonly isRelay?: boolean } = {},
): Promise<void> {
  const { config, warnings } = decodeConfig(environment)
  if (config.cell !== null && isRelay) {
    throw new ConfigError(['A relay has one database: set DATABASE_URL instead of CREEL_CELLS_FILE'])
  }
  if (config.CREEL_CELL !== undefined && parts.has('gateway')) {
    throw new ConfigError(['A gateway serves all cells: leave out --cell and CREEL_CELL, or add --only jobs'])
  }
  const log = createLog(config.CREEL_LOG_LEVEL)
  const { count, warning } = gatewayCount(isRelay ? 1 : config.CREEL_GATEWAYS, parts)
  for (const each of warning === undefined ? warnings : [...warnings, warning]) log.warn(each)

  let abandon: (() => void) | undefined
  const stopAsked = listenForStop({ log, stopWhen: program.stopWhen, abandon: () => abandon?.() })
  const onConnected = (ofPostgres: () => void) => {
    abandon = ofPostgres
  }
  const serving = await openServing({
    config,
    log,
    program: withParts(program, parts),
    parts,
    onConnected,
    gateways: { count, env: environment },
    isRelay,
  })
  try {
    if (isRelay) announceRelay(serving.service)
    else await announce(serving.service, { parts, config, command: program.command ?? 'creel' })
  } catch (error) {
    await serving.close()
    throw error
  }
  const stop = await stopAsked
  log.info({ reason: stop.reason }, 'draining: requests and deliveries in flight may finish')
  await serving.close()
  log.info('stopped')
  await logWritten(log)
  process.exit(stop.exitCode)
}

/** The words that start a further process with the same parts. */
function withParts(program: ProgramParts, parts: ReadonlySet<ServicePart>): ProgramParts {
  const { serveWords } = program
  if (serveWords === undefined) return program
  const only = parts.has('jobs') ? [] : ['--only', 'gateway']
  return { ...program, serveWords: [...serveWords, ...only, '--member'] }
}

/** Serves as a further gateway process of a program, until its first process asks it to stop or has ended. */
async function serveAsMember(
  program: ProgramParts,
  parts: ReadonlySet<ServicePart>,
  { config }: ReturnType<typeof decodeConfig>,
): Promise<void> {
  const log = createLog(config.CREEL_LOG_LEVEL)
  const membership = await joinFirstProcess()
  const stopAsked = listenForStop({ log, stopWhen: membership.stopAsked, abandon: () => {} })
  const member = await openMember({ config, log, program, parts }, membership)
  const stop = await stopAsked
  log.debug({ reason: stop.reason }, 'a gateway process drains')
  await member.close()
  await logWritten(log)
  process.exit(stop.exitCode)
}

/**
 * Prints that the service is ready. The lines for scripts go to stdout at every log level; the greeting goes to stderr.
 * A terminal gets one block instead of both.
 */
async function announce(
  service: RunningService,
  {
    parts,
    config,
    command,
  }: { readonly parts: ReadonlySet<ServicePart>; readonly config: Config; readonly command: string },
): Promise<void> {
  const dispatch = config.CREEL_DISPATCH === 'off' ? ['creel dispatch off'] : []
  if (!parts.has('gateway')) return printText(...dispatch, 'creel ready jobs')
  // The first cell that answers may be an empty one, of which its operator wants no workspace.
  const first =
    config.cell === null ? await firstBoot(service.services, config.CREEL_CONSOLE === 'on') : undefined
  if (first !== undefined && process.stdout.isTTY === true) {
    printText(
      ...readyBlock({
        ...first,
        baseUrl: service.urls.baseUrl,
        isKeyNew: true,
        command,
        retention: retentionOf(config),
      }),
    )
  } else if (first !== undefined) {
    announceToScripts(first, { baseUrl: service.urls.baseUrl, config, command })
  }
  printText(...dispatch, `creel ready base=${service.urls.baseUrl} capture=${service.urls.captureUrl}`)
}

function retentionOf({ plans, CREEL_DEFAULT_PLAN: key }: Config): string | null {
  return retentionLine(key, plans[key].limits.retentionDays)
}

function announceRelay({ urls }: RunningService): void {
  printHint(`In one command: creel listen --relay ${shellWord(urls.baseUrl)} --to 3000`)
  printText(`creel ready base=${urls.baseUrl} capture=${urls.captureUrl}`)
}

function announceToScripts(
  { key, captureUrl, signInUrl }: FirstBoot,
  {
    baseUrl,
    config,
    command,
  }: { readonly baseUrl: string; readonly config: Config; readonly command: string },
): void {
  printText(`creel key ${key}`, `creel endpoint ${captureUrl}`)
  if (signInUrl !== null) printText(`creel console ${signInUrl}`)
  if (config.CREEL_LOG_LEVEL === 'silent') return
  printHint(
    '',
    'The key above is shown only once. In a shell:',
    '',
    `  export CREEL_URL=${shellWord(baseUrl)} HOOK=${shellWord(captureUrl)}`,
    // The key itself is printed to stdout only, because stderr often goes to a log.
    '  export CREEL_KEY=<the key>',
    SHORT_NAMES,
    `  curl "$HOOK" -H 'Content-Type: application/json' -d '{"hello":"world"}'`,
    '',
  )
  const retention = retentionOf(config)
  if (retention !== null) printHint(retention, '')
  if (signInUrl !== null) {
    printHint(
      `The link signs a browser in to the console. It works once, within 15 minutes; \`${command} console\` prints another.`,
      '',
    )
  }
}
