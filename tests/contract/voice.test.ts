import { expect, test } from 'bun:test'
import { documents, textOf } from '../docs/markdown.ts'
import { sourcesOf } from './sources.ts'
import { placesIn } from './voice.ts'

/** Sentences that a reader must decode: so many may stay, because a good one may have a habit. */
const PLACES_MAX = 30
/** Lines of product sources with a person in place of a role, in comments and texts. */
const PERSON_LINES_MAX = 20
const PERSON = /nobody|whoever|somebody/i

const PRODUCT = ['core', 'gateway', 'jobs', 'creel', 'migrations', 'console', 'clients']
/** Made from other files, whose words are checked there. */
const MADE = new Set([
  ...['calls', 'schema', 'streams'].map((name) => `clients/typescript/src/${name}.ts`),
  'CHANGELOG.md',
])

test('comments and documents begin with their subject, and name parts and roles', async () => {
  const sources = await sourcesOf(...PRODUCT, 'scripts', 'tests', 'bench')
  const pages = documents.map((path) => ({ path, text: textOf(path) }))
  const places = [...sources, ...pages]
    .filter(({ path }) => !MADE.has(path))
    .flatMap(({ path, text }) => placesIn(path, text))
    .map(({ path, line, habit, sentence }) => `${path}:${line} ${habit}: ${sentence}`)
  expect(places.length > PLACES_MAX ? places : []).toEqual([])
})

test('product sources name roles and program parts, not persons', async () => {
  const sources = (await sourcesOf(...PRODUCT)).filter(({ path, isTest }) => !isTest && !MADE.has(path))
  const lines = sources.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, index) => (PERSON.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : [])),
  )
  expect(lines.length >= PERSON_LINES_MAX ? lines : []).toEqual([])
})

test('the habits are found in comments, tags, paragraphs and tables', () => {
  const code = [
    '/** What waits in one queue. */',
    'const url = "https://a"',
    '// The job.',
    '// Nobody waits.',
  ]
  const tagged = ['/**', ' * Reads a row.', ' *', ' * @returns what is stored. Whoever reads it waits', ' */']
  const page = ['# What it is', '', '- Where it stops, it waits.', '', '```sh', 'Whose word', '```']
  const table = ['| a | b |', '| Who waits; it hears that it ended | `What` |']
  const found = (path: string, lines: readonly string[]) =>
    placesIn(path, lines.join('\n')).map(({ line, habit }) => `${line} ${habit}`)
  expect(found('a.ts', code)).toEqual([
    '1 begins with a relative clause',
    '3 begins with a relative clause',
    '3 has a person in place of a role',
  ])
  expect(found('a.ts', tagged)).toEqual([
    '4 begins with a relative clause',
    '4 has a person in place of a role',
  ])
  expect(found('a.md', page)).toEqual(['3 begins with a relative clause'])
  expect(found('a.md', table)).toEqual(['2 begins with a relative clause', '2 lets a program hear and know'])
})
