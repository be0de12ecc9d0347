import { Gauge } from 'prom-client'
import { z } from 'zod'
import { databaseUrlMistake } from '../platform/db/index.ts'
import { registers } from '../platform/metrics/index.ts'

/** The most cells: their numbers have 12 bits in an id. */
const CELLS_MAX = 4095

const DatabaseUrl = z.string().superRefine((url, context) => {
  const message = databaseUrlMistake(url)
  if (message !== undefined) context.addIssue({ code: 'custom', message })
})

const FileCell = z.strictObject({
  /** Unique among the cells, and kept in the cell's database. */
  name: z.string().regex(/^[a-z][a-z0-9-]{0,30}$/, 'must be 1-31 lower-case letters, digits and hyphens'),
  /** Unique among the cells. New ids and keys carry it. It never changes. */
  number: z.int().min(1).max(CELLS_MAX),
  databaseUrl: DatabaseUrl,
  /** A replica for lists and searches; null without one. */
  readUrl: DatabaseUrl.nullable().default(null),
  /** Share of new workspaces, relative to the other cells; 0: the cell takes none. */
  weight: z.number().min(0).max(1000).default(1),
})

/** One PostgreSQL database of an installation that has several. A workspace is in one cell with all of its data. */
export type Cell = Readonly<z.output<typeof FileCell>>

/** Place of a process's data: the cell's name and number. */
export type CellPlace = Pick<Cell, 'name' | 'number'>

/** The file that `CREEL_CELLS_FILE` names. */
const CellsFile = z
  .strictObject({ cells: z.array(FileCell).min(1).max(CELLS_MAX) })
  .superRefine(({ cells }, context) => {
    for (const member of ['name', 'number', 'databaseUrl'] as const) {
      const seen = new Set<unknown>()
      for (const [index, cell] of cells.entries()) {
        if (seen.has(cell[member])) {
          const message = 'is that of another cell'
          context.addIssue({ code: 'custom', path: ['cells', index, member], message })
        }
        seen.add(cell[member])
      }
    }
  })

/** Some text is not a file of cells. `mistakes` names everything that is wrong, one sentence each. */
export class CellsFileError extends Error {
  override readonly name = 'CellsFileError'

  constructor(readonly mistakes: readonly string[]) {
    super(mistakes.join('; '))
  }
}

/**
 * Reads a file of cells.
 *
 * @throws CellsFileError
 */
export function parseCells(text: string): readonly [Cell, ...Cell[]] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new CellsFileError([`is not JSON: ${error instanceof Error ? error.message : error}`])
  }
  const parsed = CellsFile.safeParse(value)
  if (!parsed.success) {
    throw new CellsFileError(
      parsed.error.issues.map(({ path, message }) => [path.map(String).join('.'), message].join(' ').trim()),
    )
  }
  const [first, ...others] = parsed.data.cells
  if (first === undefined) throw new CellsFileError(['names no cell'])
  return [first, ...others]
}

/** Whether this process reaches a cell; no series in an installation without cells. */
export const cellUp = new Gauge({
  name: 'creel_cell_up',
  help: 'Whether a cell is reached: 1, or 0',
  labelNames: ['cell'] as const,
  aggregator: 'min',
  registers,
})
