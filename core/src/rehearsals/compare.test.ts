import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { processorTime } from '../../../tests/support/processorTime.ts'
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
  compareAnswers(before, after, ignored)?.differences.map(({ path }) => path)

const ofBody = (text: string | Uint8Array) => answer(null, { body: Buffer.from(text) })

describe('a comparison', () => {
  test('of an answer with itself finds nothing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(compareAnswers(answer(value), answer(value), [])?.outcome).toBe('equal')
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

  test.each([
    [['body.a'], ['body.a-b.c', 'body.ab', 'body.l[0]']],
    [['body.a', 'body.a-b', 'body.a.b', 'body.l'], ['body.ab']],
    [
      ['body.ab', 'body.l[0]'],
      ['body.a.b', 'body.a-b.c'],
    ],
    [
      ['body.l[]', 'body.l[].x', 'body.a-'],
      ['body.a.b', 'body.a-b.c', 'body.ab'],
    ],
  ])('that ignores %j tells %j', (ignored, told) => {
    const body = (value: number) => answer({ a: { b: value }, 'a-b': { c: value }, ab: value, l: [value] })
    expect(paths(body(1), body(2), ignored)).toEqual(told)
  })

  test('takes linear time, whatever names a receiver gives its members and headers', () => {
    const dots = '.'.repeat(250_000)
    const hostile = (value: number) =>
      answer({ [dots]: value }, { headers: Array.from({ length: 30_000 }, () => ['a', `${value}`] as const) })
    const used = processorTime()
    expect(paths(hostile(1), hostile(2), ['headers.a', 'body.id'])).toEqual([`body.${dots}`.slice(0, 500)])
    // It takes some 50 ms; a look at each part of the name and a copy for each header take seconds.
    expect(used()).toBeLessThan(1500)
  })

  test('leaves out headers that say nothing about the handler', () => {
    const headers = (date: string) => ({ headers: [['Date', date] as const, ['X-Own', date] as const] })
    expect(paths(answer(1, headers('a')), answer(1, headers('b')))).toEqual(['headers.x-own'])
  })

  test('calls an error that is new failed, and one that was there before changed or equal', () => {
    const broken = answer('x', { statusCode: 500 })
    const gone = answer('x', { statusCode: null, body: null, error: 'connect: refused' })
    expect(compareAnswers(answer('x'), broken, [])?.outcome).toBe('failed')
    expect(compareAnswers(answer('x'), gone, [])?.outcome).toBe('failed')
    expect(compareAnswers(broken, broken, [])?.outcome).toBe('equal')
    expect(compareAnswers(broken, answer('x'), [])?.outcome).toBe('changed')
  })

  test('calls an answer slower that took over twice as long, and 100 ms more', () => {
    const outcome = (before: number, after: number) =>
      compareAnswers(answer(1, { durationMs: before }), answer(1, { durationMs: after }), [])?.outcome
    expect([outcome(10, 100), outcome(100, 190), outcome(100, 250)]).toEqual(['equal', 'equal', 'slower'])
  })

  test.each([
    ['are not JSON', 'a', 'b'],
    ['nest too deep', '1', '['.repeat(60_000) + ']'.repeat(60_000)],
    ['are not UTF-8', Buffer.from('"\xff"', 'latin1'), Buffer.from('"\xfe"', 'latin1')],
  ])('of bodies that %s is of the whole', (_what, one, two) => {
    expect(paths(ofBody(one), ofBody(two))).toEqual(['body'])
    expect(paths(ofBody(two), ofBody(two))).toEqual([])
  })

  test('finds what differs behind a thousand differences that are ignored', () => {
    const body = (id: number, total: number) => answer({ items: Array(1100).fill({ id }), total })
    expect(paths(body(1, 5), body(2, 6), ['body.items[].id'])).toEqual(['body.total'])
    expect(unstablePaths(body(1, 5), body(2, 6))).toEqual(['body.items[].id', 'body.total'])
  })

  test('ignores a header in any case', () => {
    const headers = (value: string) => ({ headers: [['Location', value] as const] })
    expect(paths(answer(1, headers('a')), answer(1, headers('b')), ['headers.Location'])).toEqual([])
  })

  test('says nothing of a body that was not kept, but of the rest', () => {
    const [whole, cut] = [answer({ a: 1 }), answer({ a: 1 }, { body: null })]
    expect(compareAnswers(cut, whole, [])).toBeUndefined()
    expect(compareAnswers(whole, cut, [])).toBeUndefined()
    expect(compareAnswers(whole, cut, ['body'])?.outcome).toBe('equal')
    expect(compareAnswers(cut, { ...whole, statusCode: 409 }, [])?.outcome).toBe('changed')
    const length = { headers: [['Content-Length', '7'] as const] }
    expect(compareAnswers({ ...cut, ...length }, whole, [])).toBeUndefined()
  })
})

test('members that differ between two answers to the same request are unstable', () => {
  const unstable = unstablePaths(answer({ a: 1, l: [{ n: 1 }] }), answer({ a: 1, l: [{ n: 2 }] }))
  expect(unstable).toEqual(['body.l[].n'])
})
