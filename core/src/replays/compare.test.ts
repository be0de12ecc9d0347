import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Answer, compareAnswers, unstablePaths } from './compare.ts'

const answer = (body: unknown, more: Partial<Answer> = {}): Answer => ({
  statusCode: 200,
  headers: [],
  body: Buffer.from(JSON.stringify(body)),
  durationMs: 10,
  error: null,
  ...more,
})

const paths = (before: Answer, after: Answer, ignored: readonly string[] = []) =>
  compareAnswers(before, after, ignored).differences.map(({ path }) => path)

describe('a comparison', () => {
  test('of an answer with itself finds nothing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(compareAnswers(answer(value), answer(value), []).outcome).toBe('equal')
      }),
    )
  })

  test('finds exactly the member that changed', () => {
    const before = { id: 1, items: [{ name: 'a' }, { name: 'b' }], meta: { at: 5 } }
    expect(paths(answer(before), answer({ ...before, items: [{ name: 'a' }, { name: 'c' }] }))).toEqual([
      'body.items[1].name',
    ])
    expect(paths(answer(before), answer({ ...before, meta: {} }))).toEqual(['body.meta.at'])
  })

  test('ignores a path with all that lies below it, and items by []', () => {
    const [one, two] = [
      { at: 1, items: [{ id: 1 }, { id: 2 }] },
      { at: 2, items: [{ id: 3 }, { id: 4 }] },
    ].map((body) => answer(body))
    if (one === undefined || two === undefined) throw new Error('There are two.')
    expect(paths(one, two, ['body.at', 'body.items[].id'])).toEqual([])
    expect(paths(one, two, ['body'])).toEqual([])
    expect(paths(one, two, ['body.a'])).toHaveLength(3)
  })

  test('leaves out headers that say nothing about the handler', () => {
    const headers = (date: string) => ({ headers: [['Date', date] as const, ['X-Own', date] as const] })
    expect(paths(answer(1, headers('a')), answer(1, headers('b')))).toEqual(['headers.x-own'])
  })

  test('calls an error that is new failed, and one that was there before changed or equal', () => {
    const broken = answer('x', { statusCode: 500 })
    const gone = answer('x', { statusCode: null, body: null, error: 'connect: refused' })
    expect(compareAnswers(answer('x'), broken, []).outcome).toBe('failed')
    expect(compareAnswers(answer('x'), gone, []).outcome).toBe('failed')
    expect(compareAnswers(broken, broken, []).outcome).toBe('equal')
    expect(compareAnswers(broken, answer('x'), []).outcome).toBe('changed')
  })

  test('calls an answer slower that took over twice as long, and 100 ms more', () => {
    const outcome = (before: number, after: number) =>
      compareAnswers(answer(1, { durationMs: before }), answer(1, { durationMs: after }), []).outcome
    expect([outcome(10, 100), outcome(100, 190), outcome(100, 250)]).toEqual(['equal', 'equal', 'slower'])
  })

  test('of bodies that are not JSON is of the whole', () => {
    const [one, two] = ['a', 'b'].map((text) => answer(null, { body: Buffer.from(text) }))
    if (one === undefined || two === undefined) throw new Error('There are two.')
    expect(paths(one, two)).toEqual(['body'])
  })
})

test('members that differ between two answers to the same request are unstable', () => {
  const unstable = unstablePaths(answer({ a: 1, l: [{ n: 1 }] }), answer({ a: 1, l: [{ n: 2 }] }))
  expect(unstable).toEqual(['body.l[].n'])
})
