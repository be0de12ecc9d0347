import { createOperatorCaller } from '@creel/core/operator'
import { migrate, migrationState } from '@creel/migrations'
import { pino } from 'pino'
import { decodeConfig } from '../config/index.ts'
import { connectAsGuest } from '../database/index.ts'
import { environmentBesideService } from '../dataFolder.ts'
import { StartupError } from '../startupError.ts'
import { openCommandServices } from './commandServices.ts'
import type { ProgramParts } from './programParts.ts'

/** Operator procedures as functions of this process; no API key is needed. */
export type Operator = ReturnType<typeof createOperatorCaller>

/**
 * Lets a command call operator procedures, in process, on the configured database. A running embedded one is found
 * through the data folder, or through the user's registry if there is no data folder here. One that does not run is
 * started for the duration of the command.
 *
 * @param environment replaces the environment of the process
 * @throws ConfigError, StartupError, and the procedure's error
 */
export async function asOperator<Answer>(
  parts: ProgramParts,
  act: (operator: Operator) => Promise<Answer>,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<Answer> {
  const { config } = decodeConfig(await environmentBesideService(environment))
  // Below errors, log lines would only disturb the command's output.
  const log = pino({ level: config.CREEL_LOG_LEVEL === 'silent' ? 'silent' : 'error' }, pino.destination(2))
  const connected = await connectAsGuest({ config, log, runtime: parts.runtime, maxConnections: 2 })
  try {
    const { pending, unknown } = await migrationState(connected.database.db)
    if (unknown.length > 0)
      throw new StartupError('A newer version of creel has migrated this database. Run that version.')
    if (pending.length > 0 && config.DATABASE_URL === undefined) await migrate(connected.database.db)
    else if (pending.length > 0) {
      throw new StartupError('The database has pending migrations. Run `creel migrate` first.')
    }
    const { services, close } = await openCommandServices(config, log, connected)
    return await act(createOperatorCaller(services)).finally(close)
  } finally {
    await connected.close()
  }
}
