import { SafeText, type Text } from '../terminal/safeText.ts'
import { writeJson, writeLines } from '../terminal/write.ts'

/** Every command that answers something takes `--json`. */
export interface JsonOption {
  readonly json?: boolean
}

/** One JSON value on one line, and nothing else on stdout. Hidden characters of its strings are `\u` escapes. */
export function printJson(value: unknown): void {
  writeJson(value)
}

/** Lines for a person. Strings are escaped: control characters show, a line break too. */
export function printText(...lines: Text[]): void {
  writeLines(process.stdout, lines)
}

/** A hint for a person that must not get into what a script reads. Escaped like {@link printText}. */
export function printHint(...lines: Text[]): void {
  writeLines(process.stderr, lines)
}

const isTerminal = () => process.stdout.isTTY === true

/**
 * Rows for a person: a table on a terminal, tab-separated lines elsewhere. Cells are escaped before they are measured.
 *
 * @param columns heading and cell of each column
 */
export function printTable<Row>(
  rows: readonly Row[],
  columns: Readonly<Record<string, (row: Row) => Text>>,
): void {
  const headings = Object.keys(columns).map(SafeText.of)
  const cells = rows.map((row) => Object.values(columns).map((cell) => SafeText.of(cell(row))))
  if (!isTerminal()) {
    printText(...[headings, ...cells].map((line) => SafeText.joined(line, '\t')))
    return
  }
  const widths = headings.map((heading, at) =>
    Math.max(heading.width, ...cells.map((line) => line[at]?.width ?? 0)),
  )
  const aligned = (line: readonly SafeText[]) =>
    SafeText.joined(
      line.map((cell, at) => cell.padded(widths[at] ?? 0)),
      '  ',
    ).trimmed()
  printText(SafeText.styled('bold', aligned(headings)), ...cells.map(aligned))
  if (rows.length === 0) printHint('None.')
}
