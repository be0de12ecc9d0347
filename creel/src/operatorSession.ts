import type { Cell } from '@creel/core/cells'
import { createOperatorCaller } from '@creel/core/operator'
import type { Environment } from '@creel/terminal/tools'
import { type Logger, pino } from 'pino'
import { type Config, configsOfCells, decodeConfig } from './config/index.ts'
import { type Connected, connectAsGuest, requireSchema } from './database/index.ts'
import { environmentBesideService } from './dataFolder.ts'
import type { ProgramParts } from './programParts.ts'
import { openCommandServices } from './service/commandServices.ts'
import { StartupError } from './startupError.ts'

/** Names of workspaces in one message. */
const NAMES_MAX = 5

/** Operator procedures as functions of this process; no API key is needed. */
export type Operator = ReturnType<typeof createOperatorCaller>

/** An answer of one cell; `cell` is null in an installation without cells. */
export interface CellAnswer<Answer> {
  readonly cell: Cell | null
  readonly answer: Answer
}

/**
 * Lets a command call operator procedures for a workspace, in process, on the configured database. A running embedded
 * one is found through the data folder, or through the user's registry if there is no data folder here. One that does
 * not run is started for the duration of the command. If there are several cells, it is the one that has the workspace.
 *
 * @param workspace id or name; null: the database is the only one
 * @param environment replaces the environment of the process
 * @throws ConfigError, StartupError (also if several cells have a workspace with the name), and the procedure's error
 */
export async function asOperator<Answer>(
  parts: ProgramParts,
  workspace: string | null,
  act: (operator: Operator) => Promise<Answer>,
  environment: Environment = process.env,
): Promise<Answer> {
  const configs = await configsFor(environment)
  const [first] = configs
  const config =
    workspace === null || configs.length === 1 ? first : await configOf(parts, workspace, configs)
  return await actOn(parts, config, act)
}

/**
 * {@link asOperator} for a workspace that a command names, or for the only one.
 *
 * @throws StartupError also if none is named and there are several, or cells
 */
export async function asOperatorIn<Answer>(
  parts: ProgramParts,
  workspace: string | undefined,
  act: (operator: Operator, workspace: string) => Promise<Answer>,
): Promise<Answer> {
  if (workspace !== undefined)
    return await asOperator(parts, workspace, (operator) => act(operator, workspace))
  const configs = await configsFor(process.env)
  if (configs.length > 1)
    throw new StartupError('Name a workspace with --workspace: there are several cells.')
  return await actOn(parts, configs[0], async (operator) => {
    const [only, ...others] = await operator.workspaces.list()
    if (only !== undefined && others.length === 0) return await act(operator, only.id)
    const names = [only, ...others].flatMap((one) => (one === undefined ? [] : [one.name]))
    throw new StartupError(
      names.length === 0
        ? 'There is no workspace: creel workspace create --name <name> makes one.'
        : `There are several workspaces: name one with --workspace (${names.slice(0, NAMES_MAX).join(', ')}${names.length > NAMES_MAX ? ', …' : ''}).`,
    )
  })
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

/** The cell that has a workspace; the first if none has. A cell that cannot be asked does not hinder the others. */
async function configOf(
  parts: ProgramParts,
  workspace: string,
  configs: readonly [Config, ...Config[]],
): Promise<Config> {
  const asked = await Promise.allSettled(
    configs.map(async (config) => {
      const all = await actOn(parts, config, (operator) => operator.workspaces.list())
      return all.some(({ id, name }) => id === workspace || name === workspace) ? config : undefined
    }),
  )
  const [config, ...others] = asked.flatMap((cell) => (cell.status === 'fulfilled' ? (cell.value ?? []) : []))
  if (config !== undefined && others.length > 0) {
    throw severalHave(workspace, [config, ...others])
  }
  const fault = asked.find((cell) => cell.status === 'rejected')
  if (config === undefined && fault !== undefined) throw fault.reason
  return config ?? configs[0]
}

/** The refusal of a name that workspaces of several cells have. */
export function severalHave(workspace: string, configs: readonly Config[]): StartupError {
  const names = configs.map(({ cell }) => cell?.name).join(', ')
  return new StartupError(`Several cells have a workspace "${workspace}": ${names}. Name one with --cell.`)
}

async function configsFor(environment: Environment) {
  return configsOfCells(decodeConfig(await environmentBesideService(environment)).config)
}

/** @throws StartupError naming the cell, if there are cells */
async function actOn<Answer>(
  parts: ProgramParts,
  config: Config,
  act: (operator: Operator) => Promise<Answer>,
): Promise<Answer> {
  // Below errors, log lines would only disturb the command's output.
  const log = pino({ level: config.CREEL_LOG_LEVEL === 'silent' ? 'silent' : 'error' }, pino.destination(2))
  const connected = await connectFor(config, parts, log)
  try {
    const { services, close } = await openCommandServices(config, log, connected)
    return await act(createOperatorCaller(services)).finally(close)
  } finally {
    await connected.close()
  }
}

async function connectFor(config: Config, { runtime }: ProgramParts, log: Logger): Promise<Connected> {
  const { cell } = config
  try {
    const connected = await connectAsGuest({ config, log, runtime, maxConnections: 2, waits: cell === null })
    await requireSchema(connected, { mayMigrate: connected.isOwner }).catch(async (error) => {
      await connected.close()
      throw error
    })
    return connected
  } catch (error) {
    if (cell === null || !(error instanceof StartupError)) throw error
    throw new StartupError(`The cell "${cell.name}" cannot be asked. ${error.message}`, { cause: error })
  }
}
