import { expect, test } from 'bun:test'
import { sourcesOf } from './sources.ts'

/**
 * Names and numbers of documents outside the repository. A comment states the rule itself, or names a public source.
 */
const REFERENCE = /\b(?:CONTRACT|DESIGN|SPEC|STYLE)\b|\bR\d{1,2}\b|\(T\d+\)|\b(?:issue|ruling) #?\d+\b/

test('no source refers to a document that is not in the repository', async () => {
  const sources = await sourcesOf(
    'core',
    'gateway',
    'jobs',
    'migrations',
    'creel',
    'scripts',
    'bench',
    'tests',
    'console',
    'clients',
  )
  const faults = sources
    .filter(({ path }) => path !== 'tests/contract/references.test.ts')
    .flatMap(({ path, text }) =>
      text
        .split('\n')
        .flatMap((line, at) => (REFERENCE.test(line) ? [`${path}:${at + 1}: ${line.trim()}`] : [])),
    )
  expect(faults).toEqual([])
})
