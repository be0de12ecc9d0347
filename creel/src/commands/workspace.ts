import { type Db, queueWorkOf } from '@creel/core'
import { abortMove, listMoves, type Move, MoveError, moveWorkspace, purgeMoved } from '@creel/core/cells'
import { PLAN_KEYS, type PlanKey } from '@creel/core/plans'
import { isDatabaseOutage } from '@creel/core/platform/db'
import { type JsonOption, printHint, printJson, printTable, printText } from '@creel/terminal/output/print'
import { type Command, Option } from 'commander'
import { pino } from 'pino'
import { type Config, configsOfCells } from '../config/index.ts'
import { connectAsOwner } from '../database/index.ts'
import {
  asOperator,
  asOperatorOfAll,
  type CellAnswer,
  type Operator,
  severalHave,
} from '../operatorSession.ts'
import type { ProgramParts } from '../programParts.ts'
import { openCommandServices } from '../service/commandServices.ts'
import { StartupError, wordsOf } from '../startupError.ts'
import { configOfCells } from './cells.ts'

const planOption = () =>
  new Option('--plan <plan>', 'plan with its limits (docs/plans.md)').choices(PLAN_KEYS)

export function addWorkspaceCommands(command: Command, parts: ProgramParts): void {
  command
    .command('create')
    .description('create a workspace')
    .requiredOption('--name <name>', 'unique, 1-100 characters')
    .addOption(planOption())
    .option('--json', 'print {"id","name","plan"} on one line')
    .action(async ({ name, plan, json }: JsonOption & { name: string; plan?: PlanKey }) => {
      const made = await createWorkspace(parts, { name, plan })
      if (json === true) return printJson({ id: made.id, name: made.name, plan: made.plan })
      printText(`Created the workspace "${made.name}" (${made.id}) on the plan ${made.plan}.`)
      printHint(`Next: creel key create --workspace ${made.id} --name <name>`)
    })

  command
    .command('list')
    .description('list the workspaces, newest first')
    .option('--json', 'print one JSON array on one line')
    .action(async ({ json }: JsonOption) => {
      const cells = await asOperatorOfAll(parts, (operator) => operator.workspaces.list())
      const hasCells = cells.some(({ cell }) => cell !== null)
      const workspaces = cells
        .flatMap(({ cell, answer }) =>
          answer.map((workspace) => ({ ...workspace, ...(cell !== null && { cell: cell.name }) })),
        )
        .sort((left, right) => right.createdAt.localeCompare(left.createdAt))
      if (json === true) return printJson(workspaces)
      printTable(workspaces, {
        ...(hasCells && { Cell: ({ cell = '' }: { cell?: string }) => cell }),
        Id: ({ id }) => id,
        Name: ({ name }) => name,
        Plan: ({ plan }) => plan,
        Created: ({ createdAt }) => createdAt,
      })
    })

  command
    .command('rename')
    .description('rename a workspace; its ids, keys and URLs stay')
    .argument('<workspace>', 'id or name of the workspace')
    .requiredOption('--name <name>', 'new name: unique, 1-100 characters')
    .option('--json', 'print {"id","name","plan"} on one line')
    .action(async (workspace: string, { name, json }: JsonOption & { name: string }) => {
      requireFree(await allWorkspaces(parts), name, workspace)
      const { id, plan, ...renamed } = await asOperator(parts, workspace, (operator) =>
        operator.workspaces.rename({ workspace, name }),
      )
      if (json === true) return printJson({ id, name: renamed.name, plan })
      printText(`Renamed the workspace ${id} to "${renamed.name}".`)
    })

  addMoveCommands(command)

  command
    .command('set-plan')
    .description('change the plan of a workspace; deletes nothing')
    .requiredOption('--workspace <id|name>', 'workspace to change')
    .addOption(planOption().makeOptionMandatory())
    .option('--json', 'print {"id","name","plan"} on one line')
    .action(async (options: JsonOption & { workspace: string; plan: PlanKey }) => {
      const { workspace, plan, json } = options
      const changed = await asOperator(parts, workspace, (operator) =>
        operator.workspaces.setPlan({ workspace, plan }),
      )
      if (json === true) return printJson({ id: changed.id, name: changed.name, plan: changed.plan })
      printText(`Changed the plan of "${changed.name}" to ${changed.plan}.`)
    })
}

/**
 * Creates a workspace: in the cell that has the fewest for its weight. Its name must be free in every cell.
 *
 * @throws StartupError when no cell takes new workspaces, or another cell has the name
 */
async function createWorkspace(parts: ProgramParts, input: Parameters<Operator['workspaces']['create']>[0]) {
  const cells = await allWorkspaces(parts)
  requireFree(cells, input.name)
  const open = cells.filter(({ cell }) => cell === null || cell.weight > 0)
  const [least] = open.sort((one, two) => fullness(one) - fullness(two))
  if (least === undefined) throw new StartupError('No cell takes new workspaces: each has the weight 0.')
  const made = await asOperatorOfAll(
    parts,
    (operator) => operator.workspaces.create(input),
    (cell) => cell?.name === least.cell?.name,
  )
  const [created] = made
  if (created === undefined) throw new StartupError('The cell has gone from the file.')
  return created.answer
}

const allWorkspaces = (parts: ProgramParts) =>
  asOperatorOfAll(parts, (operator) => operator.workspaces.list())

type WorkspacesOfCell = Awaited<ReturnType<typeof allWorkspaces>>[number]

/**
 * Checks that no cell has a workspace with a name. Without cells, the database does.
 *
 * @param renamed id or name of the workspace that may have it
 * @throws StartupError
 */
function requireFree(cells: readonly WorkspacesOfCell[], given: string, renamed?: string): void {
  const hasName = ({ id, name }: { readonly id: string; readonly name: string }) =>
    name === given.trim() && id !== renamed && name !== renamed
  const taken = cells.find(({ answer }) => answer.some(hasName))
  if (taken?.cell != null)
    throw new StartupError(`The cell ${taken.cell.name} has a workspace with the name "${given.trim()}".`)
}

function fullness({ cell, answer }: CellAnswer<readonly unknown[]>): number {
  return (answer.length + 1) / (cell?.weight ?? 1)
}

interface MoveCommandOptions extends JsonOption {
  readonly to?: string
  readonly abort?: true
  readonly purge?: true
}

function addMoveCommands(command: Command): void {
  command
    .command('move')
    .description('move a workspace to another cell, while it captures; run again to continue')
    .argument('<workspace>', 'id or name of the workspace')
    .option('--to <cell>', 'cell to move it to')
    .option('--abort', 'end a move that is under way: the workspace stays where it is')
    .option('--purge', 'delete the captures that a finished move left in the former cell')
    .option('--json', 'print {"workspaceId","toCell","state","copiedRows","sealedMs"} on one line')
    .action(async (workspace: string, options: MoveCommandOptions) => {
      const move = await act(workspace, options)
      if (options.json === true) return printJson(shown(move))
      printText(`${move.workspaceName}: ${move.state} (${move.copiedRows} rows, to ${move.toCell}).`)
      if (move.state === 'moved') {
        printHint(`Next, when all is well: creel workspace move ${move.workspaceId} --purge`)
        printHint('Until then erasures, purges and retention do not reach the copies in the former cell.')
      }
    })

  command
    .command('moves')
    .description('list the moves of workspaces, newest first')
    .option('--json', 'print one JSON array on one line')
    .action(async ({ json }: JsonOption) => {
      const { answers, fault } = await askAll(configsOfCells(configOfCells()), async (db, config) =>
        (await listMoves(db)).map((move) => ({ from: nameOf(config), ...shown(move) })),
      )
      const moves = answers.flat().sort((one, other) => other.startedAt.localeCompare(one.startedAt))
      if (json === true) printJson(moves)
      else
        printTable(moves, {
          Workspace: ({ workspaceName }) => workspaceName,
          From: ({ from }) => from,
          To: ({ toCell }) => toCell,
          State: ({ state }) => state,
          Rows: ({ copiedRows }) => String(copiedRows),
          'Sealed (ms)': ({ sealedMs }) => String(sealedMs ?? ''),
          Started: ({ startedAt }) => startedAt,
        })
      if (fault !== undefined) throw fault
    })
}

const shown = (move: Move) => ({
  workspaceId: move.workspaceId,
  workspaceName: move.workspaceName,
  toCell: move.toCell,
  state: move.state,
  copiedRows: move.copiedRows,
  sealedMs: move.sealedMs,
  startedAt: move.startedAt.toISOString(),
})

const nameOf = ({ cell }: Config): string => cell?.name ?? ''

async function act(given: string, { to, abort, purge }: MoveCommandOptions): Promise<Move> {
  if ([to, abort, purge].filter((one) => one !== undefined).length !== 1) {
    throw new StartupError('Give --to <cell>, --abort or --purge.')
  }
  const config = configOfCells()
  // The target may be any cell: --cell chooses the one that the workspace is in.
  const configs = configsOfCells({ ...config, CREEL_CELL: undefined })
  const source = await sourceOf(given, configs, { cell: config.CREEL_CELL, isLeft: purge === true })
  const workspace = source.workspaceId
  try {
    return await withCell(source.config, async (from) => {
      if (purge === true) return await purgeMoved(from, workspace)
      const toCell = to ?? source.toCell
      if (toCell === undefined) throw new StartupError('No move of this workspace is under way.')
      const target = configs.find((config) => nameOf(config) === toCell)
      // A cell that is lost for good is taken out of the file.
      if (target === undefined && abort === true)
        return await abortMove({ source: from, target: null }, workspace)
      if (target === undefined) throw new StartupError(`There is no cell "${toCell}".`)
      if (target === source.config) throw new StartupError(`The workspace is in ${toCell} already.`)
      return await withCell(target, async (into, services) => {
        const pair = { source: from, target: into }
        if (abort === true) return await abortMove(pair, workspace)
        const enqueueOpen: Parameters<typeof moveWorkspace>[1]['enqueueOpen'] = (arriving, id) =>
          queueWorkOf(services, arriving, id, from)
        return await moveWorkspace(pair, { workspace, toCell, enqueueOpen, report: printHint })
      })
    })
  } catch (error) {
    if (error instanceof MoveError) throw new StartupError(error.message, { cause: error })
    if (error instanceof StartupError || !isDatabaseOutage(error)) throw error
    const names = new Set([
      nameOf(source.config),
      ...(purge === true ? [] : [to ?? source.toCell ?? []].flat()),
    ])
    throw new StartupError(
      `The connection to the cell ${[...names].map((name) => `"${name}"`).join(' or ')} was lost. ${wordsOf(error)} Run the same command again. A workspace whose move is "switching" in \`creel workspace moves\` stays sealed until then.`,
      { cause: error },
    )
  }
}

interface Source {
  readonly config: Config
  readonly workspaceId: string
  /** Target of the move that is under way. */
  readonly toCell?: string
}

/**
 * The cell that has a workspace, or from which it is moving; for a purge one that it has left. While a switch is in
 * doubt, both cells may have it, so no move begins while a cell cannot be asked: it may be the source of one.
 *
 * @param options `cell` is the only one that may be the source
 * @throws StartupError also if cells have several workspaces with the name
 */
async function sourceOf(
  workspace: string,
  configs: readonly Config[],
  { cell, isLeft }: { readonly cell: string | undefined; readonly isLeft: boolean },
): Promise<Source> {
  const { answers, fault } = await askAll(configs, async (db, config) =>
    (isLeft ? leftIn : movableIn)(db, config, workspace),
  )
  const all = answers.flatMap((found) => found ?? [])
  const underWay = all.filter(({ toCell }) => toCell !== undefined)
  const arrived = (one: Source) => !underWay.includes(one) && underWay.some((move) => isSame(move, one))
  const sources = all.filter((one) => !arrived(one) && (cell === undefined || nameOf(one.config) === cell))
  const [source] = sources
  if (source !== undefined && !sources.every((one) => isSame(one, source))) {
    throw severalHave(
      workspace,
      sources.map(({ config }) => config),
    )
  }
  const isKnown = isLeft || source?.toCell !== undefined
  if (source !== undefined && (isKnown || fault === undefined)) return source
  if (fault !== undefined) throw fault
  const place = cell === undefined ? '' : ` in ${cell}`
  throw new StartupError(
    isLeft
      ? `No cell has captures left of a workspace with the id or name "${workspace}"${place}.`
      : `There is no workspace with the id or name "${workspace}"${place}.`,
  )
}

const isSame = (one: Source, other: Source): boolean => one.workspaceId === other.workspaceId

async function movableIn(db: Db, config: Config, workspace: string): Promise<Source | undefined> {
  const moves = await movesOf(db, workspace)
  const underWay = moves.find(({ state }) => state === 'copying' || state === 'switching')
  if (underWay !== undefined) return { config, workspaceId: underWay.workspaceId, toCell: underWay.toCell }
  const [here] = await workspacesIn(db, [workspace])
  return here && { config, workspaceId: here.id }
}

/** The newest stay in the cell that left captures. Another workspace may have the name there by now. */
async function leftIn(db: Db, config: Config, workspace: string): Promise<Source | undefined> {
  const moved = (await movesOf(db, workspace)).filter(({ state }) => state === 'moved')
  const ids = moved.map(({ workspaceId }) => workspaceId)
  const here = new Set((await workspacesIn(db, ids)).map(({ id }) => id))
  const workspaceId = ids.find((id) => !here.has(id))
  return workspaceId === undefined ? undefined : { config, workspaceId }
}

const movesOf = async (db: Db, workspace: string): Promise<readonly Move[]> =>
  (await listMoves(db)).filter((move) => [move.workspaceId, move.workspaceName].includes(workspace))

/** Workspaces of a cell by their ids or names. */
async function workspacesIn(db: Db, known: readonly string[]): Promise<readonly { readonly id: string }[]> {
  if (known.length === 0) return []
  return await db
    .selectFrom('workspaces')
    .select('id')
    .where((where) => where.or([where('name', 'in', known), where.eb(where.cast('id', 'text'), 'in', known)]))
    .execute()
}

/** Asks all cells at once. `fault` is that of one that cannot be asked, and names it. */
async function askAll<Answer>(
  configs: readonly Config[],
  task: (db: Db, config: Config) => Promise<Answer>,
): Promise<{ readonly answers: readonly Answer[]; readonly fault: unknown }> {
  const asked = await Promise.allSettled(configs.map((config) => withCell(config, (db) => task(db, config))))
  return {
    answers: asked.flatMap((cell) => (cell.status === 'fulfilled' ? [cell.value] : [])),
    fault: asked.find((cell) => cell.status === 'rejected')?.reason,
  }
}

/**
 * Runs a task with a session of a cell, in UTC and without a limit of time.
 *
 * @throws StartupError naming the cell, if it is out of reach
 */
async function withCell<Result>(
  config: Config,
  task: (db: Db, services: Awaited<ReturnType<typeof openCommandServices>>['services']) => Promise<Result>,
): Promise<Result> {
  const log = pino({ level: 'error' }, pino.destination(2))
  const connecting = connectAsOwner({ config, log, runtime: undefined, waits: false, isLong: true })
  const connected = await connecting.catch((cause: unknown) => {
    throw new StartupError(`The cell "${nameOf(config)}" cannot be asked. ${wordsOf(cause)}`, { cause })
  })
  const { services, close } = await openCommandServices(config, log, connected)
  try {
    return await connected.database.db.connection().execute((session) => task(session, services))
  } finally {
    await close()
    await connected.close()
  }
}
