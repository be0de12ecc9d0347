import { printHint, printText } from '@creel/terminal/output/print'
import { type Command, Option } from 'commander'
import { type Config, decodeConfig } from '../config/index.ts'
import { type FirstBoot, firstBoot } from '../firstBoot.ts'
import { createLog } from '../log.ts'
import type { RunningService, ServicePart } from '../service/index.ts'
import { listenForStop } from '../stopping.ts'
import type { ProgramParts } from './programParts.ts'
import { readyBlock, shellWord } from './readyBlock.ts'
import { openServing } from './serving.ts'

/** Options of a service that override variables. */
export interface PlaceOptions {
  readonly port?: string
  readonly data?: string
}

interface ServeOptions extends PlaceOptions {
  readonly only?: ServicePart
}

/** Adds `--port` and `--data` to a command that starts a service. */
export function withPlaceOptions(command: Command): Command {
  return command
    .option('--port <port>', 'port to listen on, 0 for any free port; default CREEL_PORT, else 4400')
    .option('--data <folder>', 'data folder; default CREEL_DATA_DIR, else .creel')
}

/** The environment, overridden by `--port` and `--data`. */
export const environmentWith = (
  environment: Readonly<Record<string, string | undefined>>,
  { port, data }: PlaceOptions,
): Readonly<Record<string, string | undefined>> => ({
  ...environment,
  ...(port === undefined ? {} : { CREEL_PORT: port }),
  ...(data === undefined ? {} : { CREEL_DATA_DIR: data }),
})

/** `creel serve` */
export function addServeCommand(command: Command, parts: ProgramParts): void {
  withPlaceOptions(command)
    .addOption(
      new Option(
        '--only <part>',
        'run one part only, beside other processes on the same DATABASE_URL',
      ).choices(['gateway', 'jobs']),
    )
    .action(async (options: ServeOptions) => {
      const { only } = options
      const halves = only === undefined ? new Set(['gateway', 'jobs'] as const) : new Set([only])
      await serve(parts, halves, decodeConfig(environmentWith(process.env, options)))
    })
}

async function serve(
  program: ProgramParts,
  parts: ReadonlySet<ServicePart>,
  { config, warnings }: ReturnType<typeof decodeConfig>,
): Promise<void> {
  const log = createLog(config.CREEL_LOG_LEVEL)
  for (const warning of warnings) log.warn(warning)

  let abandon: (() => void) | undefined
  const stopAsked = listenForStop({ log, stopWhen: program.stopWhen, abandon: () => abandon?.() })
  const onConnected = (ofPostgres: () => void) => {
    abandon = ofPostgres
  }
  const serving = await openServing({ config, log, program, parts, onConnected })
  try {
    await announce(serving.service, parts, config)
  } catch (error) {
    await serving.close()
    throw error
  }
  const stop = await stopAsked
  log.info({ reason: stop.reason }, 'draining: requests and deliveries in flight may finish')
  await serving.close()
  log.info('stopped')
  process.exit(stop.exitCode)
}

/**
 * Prints that the service is ready. The lines for scripts go to stdout at every log level; the greeting goes to stderr.
 * A terminal gets one block instead of both.
 */
async function announce(
  service: RunningService,
  parts: ReadonlySet<ServicePart>,
  config: Config,
): Promise<void> {
  const dispatch = config.CREEL_DISPATCH === 'off' ? ['creel dispatch off'] : []
  if (!parts.has('gateway')) return printText(...dispatch, 'creel ready jobs')
  const first = await firstBoot(service.services, config.CREEL_CONSOLE === 'on')
  if (first !== undefined && process.stdout.isTTY === true) {
    printText(...readyBlock({ ...first, baseUrl: service.urls.baseUrl, isKeyNew: true }))
  } else if (first !== undefined) announceToScripts(first, { baseUrl: service.urls.baseUrl, config })
  printText(...dispatch, `creel ready base=${service.urls.baseUrl} capture=${service.urls.captureUrl}`)
}

function announceToScripts(
  { key, captureUrl, signInUrl }: FirstBoot,
  { baseUrl, config }: { readonly baseUrl: string; readonly config: Config },
): void {
  printText(`creel key ${key}`, `creel endpoint ${captureUrl}`)
  if (signInUrl !== null) printText(`creel console ${signInUrl}`)
  if (config.CREEL_LOG_LEVEL === 'silent') return
  printHint(
    '',
    'The key above is shown only once. In a shell:',
    '',
    `  export BASE=${shellWord(baseUrl)} HOOK=${shellWord(captureUrl)}`,
    // The key itself is printed to stdout only, because stderr often goes to a log.
    '  export KEY=<the key>',
    `  curl "$HOOK" -H 'Content-Type: application/json' -d '{"hello":"world"}'`,
    '',
  )
  if (signInUrl !== null) {
    printHint(
      'The link signs a browser in to the console. It works once, within 15 minutes; `creel console` prints another.',
      '',
    )
  }
}
