import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { processorTime } from '../../../tests/support/processorTime.ts'
import { inDocumentOrder } from '../engine/issues.ts'
import { type DomainError, validationFailed } from './errors.ts'
import { issuesOf, nulIssues, widthIssues } from './issues.ts'

const refusedOf = ({ more }: DomainError) => more.issues?.length

const issue = (...path: (string | number)[]) => ({ path, code: 'type', detail: 'wrong' }) as const

describe('inDocumentOrder', () => {
  test('puts issues where their members stand, and a missing member where its parent ends', () => {
    const input = { b: { y: 1, x: [1, 2] }, a: 1 }
    const sorted = inDocumentOrder(
      [
        issue('missing'),
        issue('a'),
        issue('b', 'gone'),
        issue('b', 'x', 1),
        issue('b', 'y'),
        issue('b', 'x', 0),
      ],
      input,
    )
    expect(sorted.map(({ path }) => path.join('.'))).toEqual([
      'b.y',
      'b.x.0',
      'b.x.1',
      'b.gone',
      'a',
      'missing',
    ])
  })

  test('takes no longer than it must for a body full of wrong members', () => {
    const names = Array.from({ length: 100_000 }, (_, at) => `m${at}`)
    const input = Object.fromEntries(names.map((name) => [name, 1]))
    const used = processorTime()
    expect(
      inDocumentOrder(
        names.toReversed().map((name) => issue(name)),
        input,
      )[0]?.path,
    ).toEqual(['m0'])
    // A quadratic algorithm took minutes.
    expect(used()).toBeLessThan(5000)
  })
})

test('of a hundred thousand wrong parts the first thousand are read', () => {
  const { error } = z
    .object({ headers: z.record(z.string(), z.string()) })
    .safeParse({ headers: Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`x${at}`, at])) })
  const used = processorTime()
  const issues = issuesOf(error, {})
  expect(issues.map(({ path }) => path[1])).toEqual(Array.from({ length: 1000 }, (_, at) => `x${at}`))
  expect(validationFailed(issues).detail).toStartWith('The input has at least 1000 errors; first: ')
  expect(used()).toBeLessThan(500)
})

test('a sentence about a member of several forms names a few faults of each, and the beginning of a long name', () => {
  const { error } = z
    .object({ to: z.union([z.strictObject({ url: z.string() }), z.strictObject({ id: z.string() })]) })
    .safeParse({
      to: {
        ['x'.repeat(5000)]: 1,
        ...Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`x${at}`, 1])),
      },
    })
  const [found] = issuesOf(error, { to: { x: 1 } })
  expect(found?.detail).toMatch(/ and more, or .* and more\.$/)
  expect(found?.detail.length).toBeLessThan(2000)
})

test('a long name in many paths does not make a long answer', () => {
  const of = (at: number) => ({ ...issue('x'.repeat(40_000), at) })
  expect(refusedOf(validationFailed([of(1), of(2), of(3)]))).toBe(1)
  expect(refusedOf(validationFailed([issue('a'), of(1), of(2), issue('b')]))).toBe(2)
})

describe('widthIssues', () => {
  const wide = Array.from({ length: 20_001 }, () => ({}))

  test('name the member with more values than any may have', () => {
    expect(widthIssues({ name: 'a', list: wide })).toMatchObject([{ path: ['list'], code: 'too_many' }])
    expect(widthIssues({ rule: { steps: [{ paths: wide }] } })).toMatchObject([{ path: ['rule'] }])
    expect(widthIssues({ list: wide.slice(2) })).toEqual([])
    expect(widthIssues({ one: wide.slice(3), other: [1, 2] })).toMatchObject([{ path: ['other'] }])
    expect(widthIssues({ ...wide })).toMatchObject([{ path: [], code: 'too_many' }])
  })

  test('a sample may hold any number, but not in its headers', () => {
    expect(widthIssues({ sample: wide })).toEqual([])
    expect(widthIssues({ sample: { body: wide, headers: {} } })).toEqual([])
    expect(widthIssues({ sample: { headers: { ...wide } } })).toMatchObject([{ path: ['sample'] }])
  })
})

describe('nulIssues', () => {
  test('names the members that hold NUL, down to those of lists and objects, and no deeper', () => {
    const input = {
      name: 'a\0',
      list: ['b', '\0'],
      record: { inner: '\0', document: { deep: '\0' } },
      fine: 'x',
    }
    expect(nulIssues(input).map(({ path }) => path.join('.'))).toEqual(['name', 'list.1', 'record.inner'])
  })
})

test.each([
  [{ url: 5 }, ['to', 'url'], 'to.url must be of type string.'],
  [{}, ['to'], 'to.actionId is required, or to.url is required.'],
  ['x', ['to'], 'to must be of type object.'],
])('a member that may have several forms is told what the nearest one lacks: %j', (to, path, detail) => {
  const forms = [z.strictObject({ actionId: z.uuid() }), z.strictObject({ url: z.string() })]
  const { error } = z.object({ to: z.union(forms) }).safeParse({ to })
  expect(issuesOf(error, { to })).toEqual([{ path, code: 'type', detail }])
})

test('a list of values shows that an empty text is one of them', () => {
  const { error } = z.object({ encoding: z.enum(['hex', '']) }).safeParse({ encoding: 'x' })
  expect(issuesOf(error, { encoding: 'x' })[0]?.detail).toBe('encoding must be one of hex, "".')
})

test.each([
  [
    z.string().regex(/^\d+$/, 'must be a cursor of an earlier answer'),
    'cursor must be a cursor of an earlier answer.',
  ],
  [z.string().regex(/^\d+$/), 'cursor does not have the right form.'],
  [z.uuid(), 'cursor must be a valid uuid.'],
])('text of the wrong form is told what it must be', (schema, detail) => {
  const input = { cursor: 'x' }
  const { error } = z.object({ cursor: schema }).safeParse(input)
  expect(issuesOf(error, input)).toMatchObject([{ code: 'bad_format', detail }])
})

test('a member of free names is asked to be an object', () => {
  const { error } = z.object({ headers: z.record(z.string(), z.string()) }).safeParse({ headers: [] })
  const detail = 'headers must be of type object.'
  expect(issuesOf(error, { headers: [] })).toEqual([{ path: ['headers'], code: 'type', detail }])
})

test('a list has items, and a text is characters long', () => {
  const { error } = z
    .object({ ids: z.array(z.int()).min(1), tags: z.array(z.int()).max(2), name: z.string().min(1) })
    .safeParse({ ids: [], tags: [1, 2, 3], name: '' })
  expect(issuesOf(error, { ids: [], tags: [], name: '' }).map(({ detail }) => detail)).toEqual([
    'ids must have at least 1 item.',
    'tags must have at most 2 items.',
    'name must be at least 1 character long.',
  ])
})
