import type { Line } from './jsonLines.ts'

export interface Change {
  readonly path: string
  readonly change: 'added' | 'removed' | 'changed'
  readonly before: string | null
  readonly after: string | null
}

/** Differences of two sets of named values, in the order of the first, then those that only the second has. */
export function changesOf(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): Change[] {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((path): Change[] => {
    const [old = null, now = null] = [before.get(path), after.get(path)]
    if (old === now) return []
    const change = old === null ? 'added' : now === null ? 'removed' : 'changed'
    return [{ path, change, before: old, after: now }]
  })
}

/** The most characters of all paths together: a body of a few thousand lists in each other would have gigabytes of them. */
const PATHS_MAX = 20_000_000

/**
 * The values of formatted lines by path, exactly as written; empty objects and lists are values. A path that is repeated
 * has all its values, in their order.
 *
 * @returns undefined for lines without paths, and for paths that are too long to compare
 */
export function valuesByPath(lines: readonly Line[]): Map<string, string> | undefined {
  const length = lines.reduce((sum, { path }) => sum + path.length, 0)
  if (length === 0 || length > PATHS_MAX) return undefined
  const values = new Map<string, string>()
  for (const { path, pieces } of lines) {
    const value = pieces.findLast(
      ({ kind, text }) =>
        kind === 'text' || kind === 'number' || kind === 'word' || text === '{}' || text === '[]',
    )
    const earlier = values.get(path)
    if (value !== undefined)
      values.set(path, earlier === undefined ? value.text : `${earlier}\n${value.text}`)
  }
  return values
}

/** Fields by name; a repeated name has all its values, in their order. */
export function valuesByName(
  fields: readonly { readonly name: string; readonly value: string }[],
): Map<string, string> {
  const named = Map.groupBy(fields, ({ name }) => name.toLowerCase())
  return new Map([...named].map(([name, all]) => [name, all.map(({ value }) => value).join('\n')]))
}

/** A line of a comparison: in the first text only, in the second only, or in both. */
export interface DiffLine {
  readonly change: 'same' | 'added' | 'removed'
  readonly text: string
}

/** Above this many cells a comparison line by line would take too long; then the whole middle counts as replaced. */
const CELLS_MAX = 4_000_000

/** Compares two texts line by line, with the fewest possible changes. */
export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1
  let end = 0
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  ) {
    end += 1
  }
  const same = (text: string): DiffLine => ({ change: 'same', text })
  return [
    ...before.slice(0, start).map(same),
    ...middle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map(same),
  ]
}

function middle(before: readonly string[], after: readonly string[]): DiffLine[] {
  const removed = (text: string): DiffLine => ({ change: 'removed', text })
  const added = (text: string): DiffLine => ({ change: 'added', text })
  if (before.length * after.length > CELLS_MAX) return [...before.map(removed), ...after.map(added)]
  const width = after.length + 1
  // Length of the longest common rest from each pair of positions on.
  const common = new Uint32Array((before.length + 1) * width)
  const at = (row: number, column: number) => common[row * width + column] ?? 0
  for (let row = before.length - 1; row >= 0; row -= 1) {
    for (let column = after.length - 1; column >= 0; column -= 1) {
      common[row * width + column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1))
    }
  }
  const out: DiffLine[] = []
  let [row, column] = [0, 0]
  while (row < before.length || column < after.length) {
    const [old, now] = [before[row], after[column]]
    if (old !== undefined && now !== undefined && old === now) {
      out.push({ change: 'same', text: old })
      row += 1
      column += 1
    } else if (old !== undefined && (now === undefined || at(row + 1, column) >= at(row, column + 1))) {
      out.push(removed(old))
      row += 1
    } else if (now !== undefined) {
      out.push(added(now))
      column += 1
    }
  }
  return out
}
