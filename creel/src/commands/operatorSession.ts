import { DomainError } from '@creel/core'
import type { Cell } from '@creel/core/cells'
import { createOperatorCaller } from '@creel/core/operator'
import { migrate, migrationState } from '@creel/migrations'
import { TRPCError } from '@trpc/server'
import { pino } from 'pino'
import { type Config, configsOfCells, decodeConfig } from '../config/index.ts'
import { connectAsGuest } from '../database/index.ts'
import { environmentBesideService } from '../dataFolder.ts'
import { StartupError } from '../startupError.ts'
import { openCommandServices } from './commandServices.ts'
import type { ProgramParts } from './programParts.ts'

/** Operator procedures as functions of this process; no API key is needed. */
export type Operator = ReturnType<typeof createOperatorCaller>

/** An answer of one cell; `cell` is null in an installation without cells. */
export interface CellAnswer<Answer> {
  readonly cell: Cell | null
  readonly answer: Answer
}

/**
 * Lets a command call operator procedures, in process, on the configured database. A running embedded one is found
 * through the data folder, or through the user's registry if there is no data folder here. One that does not run is
 * started for the duration of the command. Of several cells, it is the first that knows what the command names.
 *
 * @param environment replaces the environment of the process
 * @throws ConfigError, StartupError, and the procedure's error
 */
export async function asOperator<Answer>(
  parts: ProgramParts,
  act: (operator: Operator) => Promise<Answer>,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<Answer> {
  const configs = await configsFor(environment)
  const last = configs.length - 1
  for (const [index, config] of configs.entries()) {
    try {
      return await actOn(parts, config, act)
    } catch (error) {
      if (index === last || !isNotFound(error)) throw error
    }
  }
  throw new StartupError('No database is configured.')
}

/**
 * The same on every cell, one after the other; on the only database, if there are no cells.
 *
 * @param choose leaves cells out; takes all by default
 */
export async function asOperatorOfAll<Answer>(
  parts: ProgramParts,
  act: (operator: Operator) => Promise<Answer>,
  choose: (cell: Cell | null) => boolean = () => true,
): Promise<readonly CellAnswer<Answer>[]> {
  const answers: CellAnswer<Answer>[] = []
  for (const config of await configsFor(process.env)) {
    if (choose(config.cell)) answers.push({ cell: config.cell, answer: await actOn(parts, config, act) })
  }
  return answers
}

function isNotFound(thrown: unknown): boolean {
  const error = thrown instanceof TRPCError ? thrown.cause : thrown
  return error instanceof DomainError && error.code === 'not_found'
}

async function configsFor(environment: Readonly<Record<string, string | undefined>>) {
  return configsOfCells(decodeConfig(await environmentBesideService(environment)).config)
}

async function actOn<Answer>(
  parts: ProgramParts,
  config: Config,
  act: (operator: Operator) => Promise<Answer>,
): Promise<Answer> {
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
