import type { Condition, Test } from './condition.ts'
import type { Path } from './paths.ts'
import { someValue } from './read.ts'
import type { ReadRoot } from './readRoot.ts'

const NOTE_MAX = 300

/**
 * The paths that a condition reads, each once, in its order.
 *
 * @param absent whether those count that are only tested for absence
 */
export function pathsOf(
  { test: whole }: Condition,
  { absent }: { readonly absent: boolean },
): readonly Path[] {
  const paths = new Map<string, Path>()
  const visit = (test: Test): void => {
    if (test.kind === 'all' || test.kind === 'any') test.tests.forEach(visit)
    if (test.kind === 'not') visit(test.test)
    if (test.kind !== 'leaf' || (!absent && test.op === 'exists' && test.value === false)) return
    if (!paths.has(test.path.text)) paths.set(test.path.text, test.path)
  }
  visit(whole)
  return [...paths.values()]
}

/** Filters paths to those that find nothing. A misspelt path looks like one that works. */
export function unmatchedPaths(paths: readonly Path[], root: ReadRoot): readonly Path[] {
  return paths.filter((path) => !someValue(root, path, () => true))
}

/** `matched nothing: body.tpye, headers.X`; null when there is no such path. At most 300 characters. */
export function unmatchedWords(paths: readonly Pick<Path, 'text'>[]): string | null {
  if (paths.length === 0) return null
  return `matched nothing: ${paths.map(({ text }) => text).join(', ')}`.slice(0, NOTE_MAX)
}
