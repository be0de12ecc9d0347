import Table from 'cli-table3'

/** Every command that answers something takes `--json`. */
export interface JsonOption {
  readonly json?: boolean
}

/** One JSON value on one line, and nothing else on stdout (CONTRACT, top). */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}

/** Lines for a person. */
export function printText(...lines: string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`)
}

/** A hint for a person that must not get into what a script reads. */
export function printHint(...lines: string[]): void {
  process.stderr.write(`${lines.join('\n')}\n`)
}

/** Columns alone, so that a list of many stays readable. */
const NO_LINES = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: ' ',
}

const isTerminal = () => process.stdout.isTTY === true

/**
 * Rows for a person: a table on a terminal, tab-separated lines elsewhere.
 *
 * @param columns heading and cell of each column
 */
export function printTable<Row>(
  rows: readonly Row[],
  columns: Readonly<Record<string, (row: Row) => string>>,
): void {
  const headings = Object.keys(columns)
  const cells = rows.map((row) => Object.values(columns).map((cell) => cell(row)))
  if (!isTerminal()) {
    printText(...[headings, ...cells].map((line) => line.join('\t')))
    return
  }
  const table = new Table({
    head: headings,
    chars: NO_LINES,
    style: { head: ['bold'], border: [], 'padding-left': 0 },
  })
  table.push(...cells)
  printText(table.toString())
  if (rows.length === 0) printHint('None.')
}
