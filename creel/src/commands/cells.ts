import { readFile, realpath, stat } from 'node:fs/promises'
import { type Cell, CellsFileError, cellNameOf, parseCells } from '@creel/core/cells'
import { migrationState } from '@creel/migrations'
import { replaceFile } from '@creel/terminal/connection/profile'
import { type JsonOption, printJson, printTable, printText } from '@creel/terminal/output/print'
import { type Command, InvalidArgumentError } from 'commander'
import { pino } from 'pino'
import { type Config, ConfigError, configsOfCells, decodeConfig } from '../config/index.ts'
import { connectAsOwner } from '../database/index.ts'
import { StartupError, wordsOf } from '../startupError.ts'

export function addCellsCommands(command: Command): void {
  command
    .command('list')
    .description('list the cells of CREEL_CELLS_FILE')
    .option('--json', 'print one JSON array on one line, without the URLs')
    .action(({ json }: JsonOption) => {
      const cells = configOfCells().cells.map(({ name, number, weight, readUrl }) => ({
        name,
        number,
        weight,
        hasReplica: readUrl !== null,
      }))
      if (json === true) return printJson(cells)
      printTable(cells, {
        Name: ({ name }) => name,
        Number: ({ number }) => String(number),
        Weight: ({ weight }) => (weight === 0 ? '0 (no new workspaces)' : String(weight)),
        Replica: ({ hasReplica }) => (hasReplica ? 'yes' : 'no'),
      })
    })

  command
    .command('check')
    .description('check that each cell is reached, has its name, and has the schema of this version')
    .option('--json', 'print one JSON array on one line')
    .action(async ({ json }: JsonOption) => {
      const states = await Promise.all(configsOfCells(configOfCells()).map(stateOf))
      if (states.some(({ state }) => state !== 'ok')) process.exitCode = 1
      if (json === true) return printJson(states)
      printTable(states, { Name: ({ name }) => name, State: ({ state }) => state })
    })

  command
    .command('add')
    .description('add a cell to CREEL_CELLS_FILE; then run creel migrate --cell and restart the programs')
    .argument('<name>', 'name of the new cell')
    .requiredOption('--number <number>', 'its number: 1 to 4095, never used before', wholeNumber)
    .requiredOption('--url <url>', 'its DATABASE_URL')
    .option('--read-url <url>', 'its replica for lists and searches')
    .option('--weight <number>', 'share of new workspaces, relative to the others; 0: none', share, 1)
    .action(async (name: string, { number, url, readUrl, weight }: AddOptions) => {
      const added = { name, number, databaseUrl: url, ...(readUrl !== undefined && { readUrl }), weight }
      await changeFile((cells) => [...cells, added])
      printText(`Added the cell "${name}".`)
    })

  command
    .command('drain')
    .description('give a cell no new workspaces: its weight becomes 0')
    .argument('<name>', 'name of the cell')
    .action(async (name: string) => {
      await changeFile((cells) => {
        if (!cells.some((cell) => cell.name === name)) throw new StartupError(`There is no cell "${name}".`)
        return cells.map((cell) => (cell.name === name ? { ...cell, weight: 0 } : cell))
      })
      printText(`The cell "${name}" takes no new workspaces.`)
    })
}

interface AddOptions {
  readonly number: number
  readonly url: string
  readonly readUrl?: string
  readonly weight: number
}

function wholeNumber(text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw new InvalidArgumentError('Give a number from 1 to 4095.')
  return Number(text)
}

function share(text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError('Give a number from 0 to 1000.')
  return Number(text)
}

/** @throws StartupError in an installation without cells */
export function configOfCells(): Config {
  const { config } = decodeConfig(process.env)
  if (config.cells.length === 0)
    throw new StartupError('There are no cells: set CREEL_CELLS_FILE (docs/scale.md).')
  return config
}

async function stateOf(config: Config): Promise<{ readonly name: string; readonly state: string }> {
  const name = config.cell?.name ?? ''
  const log = pino({ level: 'silent' })
  try {
    const { database, close } = await connectAsOwner({
      config,
      log,
      runtime: undefined,
      maxConnections: 1,
      waits: false,
    })
    try {
      const { pending, unknown, isEmpty } = await migrationState(database.db)
      if (unknown.length > 0) return { name, state: 'newer than this program' }
      if (pending.length > 0) return { name, state: `needs creel migrate --cell ${name}` }
      const stored = isEmpty ? null : await cellNameOf(database.db)
      return { name, state: stored === null || stored === name ? 'ok' : `is the cell "${stored}"` }
    } finally {
      await close()
    }
  } catch (error) {
    return { name, state: wordsOf(error) }
  }
}

/**
 * Replaces the file at once, so that no program reads half of it, and leaves it to the same readers: the service may run
 * as another account. Checks the result first.
 *
 * @throws ConfigError when it would have mistakes
 */
async function changeFile(change: (cells: readonly FileCell[]) => readonly FileCell[]): Promise<void> {
  const file = configOfCells().CREEL_CELLS_FILE
  if (file === undefined) return
  const cells = change(parseCells(await readFile(file, 'utf8')))
  const text = `${JSON.stringify({ cells }, null, 2)}\n`
  try {
    parseCells(text)
  } catch (error) {
    if (!(error instanceof CellsFileError)) throw error
    throw new ConfigError(error.mistakes.map((mistake) => `${file} was not changed: ${mistake}`))
  }
  const path = await realpath(file)
  await replaceFile(path, text, await stat(path))
}

type FileCell = Omit<Cell, 'readUrl'> & { readonly readUrl?: string | null }
