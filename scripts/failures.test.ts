import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  errorsOutside,
  type Failure,
  failureLines,
  failuresOf,
  filesToRepeat,
  type Ran,
  summaryOf,
} from './failures.ts'

const folder = await mkdtemp(join(tmpdir(), 'creel-failures-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

const FILES = {
  'a.test.ts': `import { describe, expect, test } from 'bun:test'
    describe('"sums" & more', () => {
      test('add up', () => expect(1).toBe(2))
    })
    test('passes', () => {})
    test.skip('is skipped', () => {})
    test('throws', () => { throw new TypeError('no <such> thing\\nmore') })`,
  'b.test.ts': `import './nothing.ts'`,
  'c.test.ts': `import { test } from 'bun:test'
    test('is late', () => Bun.sleep(300), 50)`,
}

test('the failures of a run are read from what Bun reports of it', async () => {
  for (const [name, text] of Object.entries(FILES)) await writeFile(join(folder, name), text)
  const report = ['--reporter=junit', '--reporter-outfile=report.xml']
  const child = Bun.spawn([process.execPath, 'test', '--parallel=2', '--no-isolate', ...report, '.'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const output = await new Response(child.stderr).text()
  const failures = failuresOf(await readFile(join(folder, 'report.xml'), 'utf8'))
  expect(failures.toSorted((one, other) => (one.place < other.place ? -1 : 1))).toEqual([
    {
      place: 'a.test.ts:3',
      test: '"sums" & more > add up',
      error: 'AssertionError: expect(received).toBe(expected)',
    },
    { place: 'a.test.ts:7', test: 'throws', error: 'TypeError: no <such> thing' },
    { place: 'c.test.ts:2', test: 'is late', error: 'TimeoutError: test timed out' },
  ])
  expect(errorsOutside(output)).toEqual([
    expect.stringMatching(/^\S+\.test\.ts: .*Cannot find module '.\/nothing.ts'/),
  ])
})

describe('the last lines of a run', () => {
  const failures = (count: number): Failure[] =>
    Array.from({ length: count }, (_, n) => ({ place: 'a.test.ts:1', test: `${n}`, error: 'Error: no' }))

  test('tell failures with their errors while there is room, and are never more than 18', () => {
    expect(failureLines([], [])).toEqual([])
    expect(failureLines(failures(1), ['error: x'])).toEqual([
      '  a.test.ts:1: 0',
      '    Error: no',
      '  error: x',
    ])
    expect(failureLines(failures(9), [])).toHaveLength(18)
    expect(failureLines(failures(10), [])).toEqual(
      failures(10).map(({ test: name }) => `  a.test.ts:1: ${name}`),
    )
    expect(failureLines(failures(40), [])).toHaveLength(18)
    expect(failureLines(failures(40), []).at(-1)).toBe('  and 23 more')
  })
})

describe('files of failed tests', () => {
  const failed = (...places: readonly string[]): Ran => ({
    passed: 10,
    failed: places.length,
    failures: places.map((place) => ({ place, test: `of ${place}`, error: 'Error: no' })),
    outside: [],
  })
  const none = failed()

  test('run once more, each once and at most six', () => {
    expect(filesToRepeat([failed('a.test.ts:1', 'a.test.ts:9'), failed('b.test.ts')])).toEqual([
      './a.test.ts',
      './b.test.ts',
    ])
    const six = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `${name}.test.ts`)
    expect(filesToRepeat([failed(...six)])).toHaveLength(6)
    expect(filesToRepeat([failed(...six), failed('g.test.ts')])).toEqual([])
    expect(filesToRepeat([none])).toEqual([])
  })

  test('do not where something else failed, too', () => {
    const loading = { ...none, failed: 1, outside: ['b.test.ts: error: x'] }
    expect(filesToRepeat([failed('a.test.ts:1'), loading])).toEqual([])
    // A failed test leaves something behind, which fails after it.
    expect(filesToRepeat([{ ...failed('b.test.ts:1'), failed: 2, outside: loading.outside }])).toEqual([
      './b.test.ts',
    ])
  })

  test('count as they ended alone', () => {
    const runs = [failed('a.test.ts:1', 'b.test.ts:1'), none]
    expect(summaryOf(runs, undefined)).toMatchObject({ passed: 20, failed: 2, passedAlone: [] })
    expect(summaryOf(runs, failed('b.test.ts:1'))).toEqual({
      passed: 21,
      failed: 1,
      failures: [{ place: 'b.test.ts:1', test: 'of b.test.ts:1', error: 'Error: no' }],
      outside: [],
      passedAlone: [{ place: 'a.test.ts:1', test: 'of a.test.ts:1', error: 'Error: no' }],
    })
    const alike = failed('a.test.ts:1', 'b.test.ts:1')
    const sameName = { ...alike, failures: alike.failures.map((one) => ({ ...one, test: 'starts' })) }
    const [, other] = sameName.failures
    const again = { ...none, failed: 1, failures: other === undefined ? [] : [other] }
    expect(summaryOf([sameName], again).passedAlone.map(({ place }) => place)).toEqual(['a.test.ts:1'])
    const died = { passed: 0, failed: 1, failures: [], outside: ['Bun ended with 139, and reported nothing'] }
    expect(summaryOf(runs, died)).toMatchObject({ failed: 1, outside: died.outside })
  })
})
