import type { Environment, LocalService, QuickService } from '@creel/terminal/tools'
import { environmentOfQuickStart } from '../dataFolder.ts'
import { keepKey, localServices } from '../localService.ts'
import type { ProgramParts } from '../programParts.ts'

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
  parts: ProgramParts,
  { logLevel, handlesSignals }: { readonly logLevel: 'warn' | 'fatal'; readonly handlesSignals: boolean },
): Promise<QuickService> {
  const [{ decodeConfig }, { openServing }, { createLog }, { firstBoot }, { listenForStop }] =
    await Promise.all([
      import('../config/index.ts'),
      import('./serving.ts'),
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
    ? listenForStop({ log, stopWhen: parts.stopWhen, abandon: () => abandon?.() })
    : undefined
  const serving = await openServing({
    config,
    log,
    program: parts,
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
