import { expect, test } from 'bun:test'
import { type SourceFile, sourcesOf } from './sources.ts'

/** Files without rules of their own: generated tables. */
const EXCEPTED = new Set(['core/src/platform/db/tables.ts'])

const DECLARATION =
  /^export (?:default )?(?:declare )?(?:abstract )?(?:async )?(function\*?|class|interface|type|const|let|enum) +(\w+)/

/** Lines that may be between a docstring and its declaration. */
const PASSED_OVER = /^(?:\/\/ biome-ignore|@)/

/** Words without a fact of their own, in docstrings. */
const FILLER = new Set(
  'a an the of for to in on by with and or its it is are one this that from as at be all each every'.split(
    ' ',
  ),
)

/** The exports of a file whose docstring only says their name again. */
function repeated({ path, text }: SourceFile): string[] {
  const lines = text.split('\n')
  return lines.flatMap((line, at) => {
    const [, , name = ''] = DECLARATION.exec(line) ?? []
    const isRepeated =
      name !== '' && endsDocstring(lines, at - 1) && repeatsName(docstringAbove(lines, at - 1), name)
    return isRepeated ? [`${path}: ${name}`] : []
  })
}

/** Whether all words of a docstring are in the name that it documents, whatever their endings, or are fillers. */
function repeatsName(docstring: string, name: string): boolean {
  const words = docstring
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '' && !FILLER.has(word))
  const named = new Set(wordsOf(name).map(stemOf))
  return words.every((word) => named.has(stemOf(word)))
}

/** The words of a name in camel case or capitals, in lower case. */
function wordsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase()
    .split(' ')
}

/** A word without the ending of a plural or a verb. */
function stemOf(word: string): string {
  return word.replace(/ies$/, 'y').replace(/(?:es|s|ed|ing|e)$/, '')
}

/** The text of the docstring that ends on this line, or above lines that match `PASSED_OVER`. */
function docstringAbove(lines: readonly string[], from: number): string {
  let end = from
  while (PASSED_OVER.test(lines[end] ?? '')) end--
  let begin = end
  while (begin > 0 && !(lines[begin] ?? '').startsWith('/*')) begin--
  return lines.slice(begin, end + 1).join(' ')
}

/** Whether a comment that began with two stars ends on this line, or above lines that match `PASSED_OVER`. */
function endsDocstring(lines: readonly string[], from: number): boolean {
  let at = from
  while (PASSED_OVER.test(lines[at] ?? '')) at--
  if (!(lines[at] ?? '').trimEnd().endsWith('*/')) return false
  while (at > 0 && !(lines[at] ?? '').startsWith('/*')) at--
  return (lines[at] ?? '').startsWith('/**')
}

test('no docstring only says the name of its export again', async () => {
  const sources = await sourcesOf('core', 'gateway', 'jobs', 'creel', 'migrations', 'clients/terminal')
  const checked = sources.filter(({ path, isTest }) => !isTest && !EXCEPTED.has(path))
  expect(checked.length).toBeGreaterThan(0)
  expect(checked.flatMap(repeated)).toEqual([])
})

test('a docstring that splits its name into words says nothing', () => {
  expect(repeatsName('/** The batches of a capture. */', 'captureBatch')).toBeTrue()
  expect(repeatsName('/** Reads the figures of all flows. */', 'readFlowFigures')).toBeTrue()
  expect(repeatsName('/** Captures of one endpoint that are stored together. */', 'captureBatch')).toBeFalse()
})
