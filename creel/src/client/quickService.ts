import { environmentOfQuickStart } from '../dataFolder.ts'
import type { ProgramTools } from '../programTools.ts'
import { keepKey, type LocalService, localServices } from './connection/localService.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** A service that a developer's command runs in its own process. */
export interface QuickService {
  readonly url: string
  readonly dataDir: string
  /** Resolves when a signal asks the process to stop, with its exit code. */
  readonly stopAsked: Promise<number>
  /** Drains the service and stops it. */
  close(): Promise<void>
}

/** The running service of this machine that a quick start uses; undefined if none of the user's runs. */
export async function runningService(environment: Environment): Promise<LocalService | undefined> {
  for await (const service of localServices(environment)) return service
  return undefined
}

/**
 * Starts a service in this process for the duration of a command, on the data folder of a quick start. If port 4400 is
 * taken and no other is configured, it listens on a free one. The first start creates a workspace, an endpoint and a
 * key, which later commands find.
 *
 * @param logLevel default of `CREEL_LOG_LEVEL`
 * @throws ConfigError, StartupError
 */
export async function startQuickService(
  environment: Environment,
  tools: ProgramTools,
  { logLevel, handlesSignals }: { readonly logLevel: 'warn' | 'fatal'; readonly handlesSignals: boolean },
): Promise<QuickService> {
  const [{ decodeConfig }, { openServing }, { createLog }, { firstBoot }, { listenForStop }] =
    await Promise.all([
      import('../config/index.ts'),
      import('../commands/serving.ts'),
      import('../log.ts'),
      import('../firstBoot.ts'),
      import('../stopping.ts'),
    ])
  const { config, warnings } = decodeConfig({
    CREEL_LOG_LEVEL: logLevel,
    ...(await environmentOfQuickStart(environment)),
  })
  const log = createLog(config.CREEL_LOG_LEVEL)
  for (const warning of warnings) log.warn(warning)
  let abandon: (() => void) | undefined
  const stopAsked = handlesSignals
    ? listenForStop({ log, stopWhen: tools.stopWhen, abandon: () => abandon?.() })
    : undefined
  const serving = await openServing({
    config,
    log,
    program: tools,
    parts: new Set(['gateway', 'jobs'] as const),
    takesAnotherPort: (environment.CREEL_PORT ?? '').trim() === '',
    onConnected: (ofPostgres) => {
      abandon = ofPostgres
    },
  })
  try {
    const first = await firstBoot(serving.service.services, false)
    if (first !== undefined) await keepKey(config.CREEL_DATA_DIR, first.key)
  } catch (error) {
    await serving.close()
    throw error
  }
  return {
    url: serving.localUrl,
    dataDir: config.CREEL_DATA_DIR,
    stopAsked: stopAsked === undefined ? Promise.resolve(0) : stopAsked.then(({ exitCode }) => exitCode),
    close: () => serving.close(),
  }
}
