import { SafeText, type Text } from './safeText.ts'
import { writeLines } from './write.ts'

export { printJson } from './write.ts'

export interface JsonOption {
  readonly json?: boolean
}

/** Prints lines to stdout. Strings are escaped: control characters become visible, line breaks too. */
export function printText(...lines: Text[]): void {
  writeLines(process.stdout, lines)
}

/** Prints a hint to stderr, where it does not disturb scripts. Escaped like {@link printText}. */
export function printHint(...lines: Text[]): void {
  writeLines(process.stderr, lines)
}

/** Prints the warnings of an answer, as hints. */
export function printWarnings({
  warnings = [],
}: {
  readonly warnings?: readonly string[] | undefined
}): void {
  for (const warning of warnings) printHint(`Warning: ${warning}`)
}

const isTerminal = () => process.stdout.isTTY === true

/**
 * Prints rows: a table on a terminal, tab-separated lines elsewhere. Cells are escaped before they are measured.
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
