import { expect, test } from 'bun:test'
import { type SourceFile, sourcesOf } from './sources.ts'

/** Files without rules of their own: generated tables, and data whose shape is documented by its schema. */
const EXCEPTED = new Set(['core/src/platform/db/tables.ts', 'core/src/engine/providers/catalogRows.ts'])

const DECLARATION =
  /^export (?:default )?(?:declare )?(?:abstract )?(?:async )?(function\*?|class|interface|type|const|let|enum) +(\w+)/

/** Lines that may be between a docstring and its declaration. */
const PASSED_OVER = /^(?:\/\/ biome-ignore|@)/

const transpilers = { ts: new Bun.Transpiler({ loader: 'ts' }), tsx: new Bun.Transpiler({ loader: 'tsx' }) }

/** The exports of a file without a docstring directly above. One docstring is enough for all overloads. */
function undocumented({ path, text }: SourceFile): string[] {
  const lines = text.split('\n')
  const found = lines.flatMap((line, at) => {
    const [, kind = '', name = ''] = DECLARATION.exec(line) ?? []
    return name === '' ? [] : [{ kind, name, hasDocstring: endsDocstring(lines, at - 1) }]
  })
  // Sources inside template literals export nothing. Types are gone after the scan, so they are not checked for this.
  const values = new Set(transpilers[path.endsWith('.tsx') ? 'tsx' : 'ts'].scan(text).exports)
  const documented = new Set(
    found.filter(({ hasDocstring }) => hasDocstring).map(({ kind, name }) => `${kind} ${name}`),
  )
  const lacking = found
    .filter(({ kind, name }) => kind === 'interface' || kind === 'type' || values.has(name))
    .filter(({ kind, name }) => !documented.has(`${kind} ${name}`))
    .filter(({ name }) => !(path.startsWith('migrations/') && name === 'up'))
  return [...new Set(lacking.map(({ name }) => `${path}: ${name}`))]
}

/** Whether a comment that began with two stars ends on this line, or above lines that match `PASSED_OVER`. */
function endsDocstring(lines: readonly string[], from: number): boolean {
  let at = from
  while (PASSED_OVER.test(lines[at] ?? '')) at--
  if (!(lines[at] ?? '').trimEnd().endsWith('*/')) return false
  while (at > 0 && !(lines[at] ?? '').startsWith('/*')) at--
  return (lines[at] ?? '').startsWith('/**')
}

test('every export has a docstring', async () => {
  const sources = await sourcesOf('core', 'gateway', 'jobs', 'creel', 'migrations', 'clients/terminal')
  const checked = sources.filter(({ path, isTest }) => !isTest && !EXCEPTED.has(path))
  expect(checked.length).toBeGreaterThan(0)
  expect(checked.flatMap(undocumented)).toEqual([])
})
