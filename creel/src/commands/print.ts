import { styleText } from 'node:util'

/** Every command that answers something takes `--json`. */
export interface JsonOption {
  readonly json?: boolean
}

/** One JSON value on one line, and nothing else on stdout. */
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
  const widths = headings.map((heading, at) =>
    Math.max(...[heading, ...cells.map((line) => line[at] ?? '')].map((cell) => Bun.stringWidth(cell))),
  )
  const aligned = (line: readonly string[]) =>
    line
      .map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - Bun.stringWidth(cell)))
      .join('  ')
      .trimEnd()
  printText(styleText('bold', aligned(headings)), ...cells.map(aligned))
  if (rows.length === 0) printHint('None.')
}
