import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { processorTime } from '../../../../tests/support/processorTime.ts'
import { sameDocument } from '../json/index.ts'
import type { EvaluatedRequest } from '../message/capturedRequest.ts'
import {
  ConditionSet,
  describeCondition,
  holds,
  holdsInSteps,
  looksOf,
  matches,
  parseCondition,
  requestRoot,
  storedCondition,
} from './index.ts'

function request(over: Partial<EvaluatedRequest> & { text?: string } = {}): EvaluatedRequest {
  const body = over.body ?? Buffer.from(over.text ?? '')
  return {
    endpointId: '0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33',
    receivedAt: new Date('2026-11-21T09:15:00Z'),
    method: 'POST',
    path: '',
    queryString: null,
    headers: [],
    contentType: 'application/json',
    sizeBytes: body.length,
    bodyTruncated: false,
    ip: '203.0.113.7',
    label: null,
    eventId: null,
    verification: null,
    ...over,
    body,
  }
}

function json(value: unknown): EvaluatedRequest {
  return request({ text: JSON.stringify(value) })
}

function parsed(condition: unknown) {
  const result = parseCondition(condition)
  if ('issues' in result) throw new Error(result.issues.map((issue) => issue.detail).join(' '))
  return result.condition
}

function holdsFor(condition: unknown, captured: EvaluatedRequest): boolean {
  return matches(parsed(condition), captured)
}

function leaf(path: string, op: string, value?: unknown, ignoreCase?: boolean) {
  return {
    path,
    op,
    ...(value === undefined ? {} : { value }),
    ...(ignoreCase === undefined ? {} : { ignoreCase }),
  }
}

/** Runs all pieces, and counts them. */
function drained<Result>(pieces: Generator<void, Result>): {
  readonly result: Result
  readonly pieces: number
} {
  for (let count = 1; ; count += 1) {
    const piece = pieces.next()
    if (piece.done === true) return { result: piece.value, pieces: count }
  }
}

/** `pointer code` of every issue. */
function wrong(condition: unknown): string[] {
  const result = parseCondition(condition)
  return 'issues' in result ? result.issues.map(({ path, code }) => `/${path.join('/')} ${code}`) : []
}

describe('leaves', () => {
  const order = json({
    type: 'invoice.paid',
    amount: 1000,
    rate: 1.5,
    text: '1000',
    nothing: null,
    live: true,
    lines: [
      { sku: 'A', n: 1 },
      { sku: 'B', n: 2 },
    ],
    tags: ['x', 'y'],
    'odd.name': 1,
    at: '2026-11-21T10:00:00.5+01:00',
    '0': 'zero',
  })

  test.each([
    [leaf('body.type', 'eq', 'invoice.paid'), true],
    [leaf('body.type', 'eq', 'INVOICE.PAID'), false],
    [leaf('body.type', 'eq', 'INVOICE.PAID', true), true],
    [leaf('body.amount', 'eq', 1000.0), true],
    [leaf('body.amount', 'eq', '1000'), false],
    [leaf('body.text', 'eq', 1000), false],
    [leaf('body.lines[0]', 'eq', { n: 1.0, sku: 'A' }), true],
    [leaf('body.tags', 'eq', ['y', 'x']), false],
    [leaf('body.nothing', 'eq', null), true],
    [leaf('body.none', 'eq', null), false],
    [leaf('body.none', 'neq', 1), true],
    [leaf('body.none', 'nin', [1]), true],
    [leaf('body.none', 'exists', false), true],
    [leaf('body.none', 'exists'), false],
    [leaf('body.nothing', 'exists'), true],
    [leaf('body.type', 'in', ['a', 'Invoice.Paid'], true), true],
    [leaf('body.amount', 'in', [1, 1e3]), true],
    [leaf('body.live', 'in', [true, null]), true],
    [leaf('body.type', 'nin', ['a']), true],
    [leaf('body.amount', 'gt', 999.99), true],
    [leaf('body.amount', 'gte', 1000), true],
    [leaf('body.amount', 'lt', 1000), false],
    [leaf('body.rate', 'lte', 1.5), true],
    [leaf('body.text', 'gte', 1000), true],
    [leaf('body.type', 'gt', 1), false],
    [leaf('body.at', 'gt', '2026-11-21T09:00:00.4Z'), true],
    [leaf('body.at', 'gte', '2026-11-21'), true],
    [leaf('body.at', 'lt', '2026-11-22'), true],
    [leaf('body.at', 'lt', '2026-11-21T09:01Z'), true],
    [leaf('body.at', 'gt', '2026-11-21T11:01+02:00'), false],
    [leaf('body.at', 'lte', '2026-11-21T09:00:00.500000Z'), true],
    [leaf('body.at', 'lt', '2026-11-21T09:00:00.5Z'), false],
    [leaf('body.amount', 'gt', '2026-11-21T09:00:00Z'), false],
    [leaf('body.type', 'startsWith', 'invoice.'), true],
    [leaf('body.type', 'startsWith', 'INVOICE.', true), true],
    [leaf('body.type', 'endsWith', '.paid'), true],
    [leaf('body.type', 'endsWith', 'xinvoice.paid'), false],
    [leaf('body.amount', 'startsWith', '1'), false],
    [leaf('body.type', 'contains', 'ice.p'), true],
    [leaf('body.tags', 'contains', 'y'), true],
    [leaf('body.tags', 'contains', 'Y', true), true],
    [leaf('body.lines', 'contains', { sku: 'B', n: 2 }), true],
    [leaf('body.type', 'contains', 1), false],
    [leaf('body.type', 'like', 'inv*.p*d'), true],
    [leaf('body.type', 'like', 'inv'), false],
    [leaf('body.type', 'like', '*'), true],
    [leaf('body.lines[*].sku', 'eq', 'B'), true],
    [leaf('body.lines[*].sku', 'neq', 'B'), false],
    [leaf('body.lines[*].sku', 'nin', ['C']), true],
    [leaf('body.lines[-1].sku', 'eq', 'B'), true],
    [leaf('body.lines[2]', 'exists'), false],
    [leaf('body.lines[*].none', 'exists'), false],
    [leaf('body["odd.name"]', 'eq', 1), true],
    [leaf('body.0', 'eq', 'zero'), true],
    [leaf('body.lines.0.sku', 'eq', 'A'), true],
    [leaf('body.lines.-1.sku', 'eq', 'B'), true],
    [leaf('body.lines.*.sku', 'eq', 'B'), true],
    [leaf('body.lines.2', 'exists'), false],
    [leaf('body.lines.01', 'exists'), false],
    [leaf('body.lines["0"]', 'exists'), false],
    [leaf('body.*', 'exists'), false],
    [leaf('body.lines.length', 'exists'), false],
    [leaf('body.type.length', 'exists'), false],
    [leaf('body.constructor', 'exists'), false],
    [leaf('body.__proto__', 'exists'), false],
    [leaf('body', 'contains', '"type":"invoice.paid"'), true],
  ])('%j is %p', (condition, expected) => {
    expect(holdsFor(condition, order)).toBe(expected)
  })

  test('numbers above 2^53 compare exactly', () => {
    const big = request({ text: '{"id":9007199254740993}' })
    expect(matches(storedCondition('{"path":"body.id","op":"eq","value":9007199254740993}'), big)).toBe(true)
    expect(matches(storedCondition('{"path":"body.id","op":"eq","value":9007199254740992}'), big)).toBe(false)
    expect(matches(storedCondition('{"path":"body.id","op":"gt","value":9007199254740992}'), big)).toBe(true)
    expect(matches(storedCondition('{"path":"body.id","op":"in","value":[9007199254740993.0]}'), big)).toBe(
      true,
    )
  })

  test('headers, query and other facts', () => {
    const captured = request({
      method: 'PUT',
      path: '/eu/1',
      queryString: 'page=2&tag=a+b&tag=c%21&flag&bad=%zz',
      headers: [
        ['X-Env', 'test'],
        ['x-env', 'live'],
        ['X-Count', '10.0'],
        ['X-Live', 'true'],
        ['X-Name', Buffer.from('Zoë').toString('latin1')],
      ],
      label: 'paid',
      contentType: 'text/plain',
      verification: { verdict: 'failed', note: 'The signature does not match.' },
      text: '{"a":1}',
    })
    const held = (condition: unknown) => holdsFor(condition, captured)
    expect(held(leaf('headers.x-ENV', 'eq', 'live'))).toBe(true)
    expect(held(leaf('headers.X-Env', 'neq', 'live'))).toBe(false)
    expect(held(leaf('headers.X-Count', 'eq', 10))).toBe(true)
    expect(held(leaf('headers.X-Live', 'eq', true))).toBe(true)
    expect(held(leaf('headers.X-Name', 'eq', 'Zoë'))).toBe(true)
    expect(held(leaf('headers.X-None', 'exists', false))).toBe(true)
    expect(held(leaf('query.tag', 'eq', 'c!'))).toBe(true)
    expect(held(leaf('query.tag', 'eq', 'a b'))).toBe(true)
    expect(held(leaf('query.page', 'in', [2]))).toBe(true)
    expect(held(leaf('query.page', 'gte', 2))).toBe(true)
    expect(held(leaf('query.flag', 'eq', ''))).toBe(true)
    expect(held(leaf('query.bad', 'eq', '%zz'))).toBe(true)
    expect(held(leaf('method', 'eq', 'PUT'))).toBe(true)
    expect(held(leaf('path', 'like', '/eu/*'))).toBe(true)
    expect(held(leaf('label', 'eq', 'paid'))).toBe(true)
    expect(held(leaf('sizeBytes', 'eq', 7))).toBe(true)
    expect(held(leaf('ip', 'startsWith', '203.'))).toBe(true)
    expect(held(leaf('contentType', 'eq', 'text/plain'))).toBe(true)
    expect(held(leaf('verification.verdict', 'in', ['failed']))).toBe(true)
    expect(held(leaf('body.a', 'eq', 1))).toBe(true)
    expect(held(leaf('body', 'eq', '{"a":1}'))).toBe(true)
    expect(holdsFor(leaf('verification.verdict', 'exists'), request())).toBe(false)
  })

  test('forms are objects of text, text compares with numbers', () => {
    const form = request({ contentType: 'application/x-www-form-urlencoded', text: 'a=1&b=x+y&b=%C3%A9' })
    expect(holdsFor(leaf('body.a', 'eq', 1), form)).toBe(true)
    expect(holdsFor(leaf('body.a', 'eq', '1'), form)).toBe(true)
    expect(holdsFor(leaf('body.b[*]', 'eq', 'é'), form)).toBe(true)
    expect(holdsFor(leaf('body.b', 'contains', 'x y'), form)).toBe(true)
  })

  test('oversize traces and other types have no body paths', () => {
    const captured = json({ a: 1 })
    expect(holdsFor(leaf('body.a', 'exists'), { ...captured, bodyTruncated: true })).toBe(false)
    expect(holdsFor(leaf('body', 'exists'), { ...captured, bodyTruncated: true })).toBe(false)
    expect(holdsFor(leaf('body.a', 'exists'), { ...captured, contentType: null })).toBe(true)
    expect(
      holdsFor(leaf('body.a', 'exists'), { ...captured, contentType: 'application/vnd.x+json; v=1' }),
    ).toBe(true)
    expect(holdsFor(leaf('body', 'exists'), request({ body: new Uint8Array([0xff, 0]) }))).toBe(false)
  })

  test('case folds simply: one character to one', () => {
    expect(holdsFor(leaf('body.a', 'eq', 'STRASSE', true), json({ a: 'Straße' }))).toBe(false)
    expect(holdsFor(leaf('body.a', 'eq', 'ΟΔΟΣ', true), json({ a: 'οδος' }))).toBe(true)
    expect(holdsFor(leaf('body.a', 'endsWith', 'É', true), json({ a: 'café' }))).toBe(true)
  })
})

describe('groups', () => {
  const tree: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 2 },
      tie('leaf'),
      fc.record({ all: fc.array(tie('tree'), { minLength: 1, maxLength: 3 }) }),
      fc.record({ any: fc.array(tie('tree'), { minLength: 1, maxLength: 3 }) }),
      fc.record({ not: tie('tree') }),
    ),
    leaf: fc.record({
      path: fc.constantFrom('body.a', 'body.b[*]', 'body', 'headers.X-A', 'query.q', 'method', 'sizeBytes'),
      op: fc.constantFrom('eq', 'neq', 'contains'),
      value: fc.constantFrom<unknown>(1, 'a', 'ab', null, true, [1]),
      ignoreCase: fc.boolean(),
    }),
  })).tree
  const captured = fc.record({
    a: fc.constantFrom(1, 'a', 'AB', null),
    b: fc.array(fc.constantFrom(1, 'a', true)),
  })

  test('negation, double negation, De Morgan and order', () => {
    fc.assert(
      fc.property(tree, tree, captured, (left, right, body) => {
        const held = (condition: unknown) => holdsFor(condition, json(body))
        const plain = held({ all: [left] })
        expect(held({ not: left })).toBe(!plain)
        expect(held({ all: [left, right] })).toBe(held({ all: [right, left] }))
        expect(held({ any: [left, right] })).toBe(held({ any: [right, left] }))
        expect(held({ any: [left, right] })).toBe(plain || held({ all: [right] }))
        expect(held({ not: { any: [left, right] } })).toBe(!plain && !held({ all: [right] }))
      }),
      { numRuns: 300 },
    )
  })

  test('asked together, the same hold as one by one', () => {
    const lone = fc.record({ path: fc.constantFrom('body.a', 'body.b[*]'), value: fc.constantFrom('a', 1) })
    const mixed = fc.oneof(
      tree,
      lone.map(({ path, value }) => leaf(path, 'eq', value)),
    )
    fc.assert(
      fc.property(fc.array(mixed, { maxLength: 12 }), captured, (trees, body) => {
        const conditions = trees.map((each) => parsed(each))
        const arrived = json(body)
        const set = new ConditionSet(conditions.map((condition, item) => ({ condition, item })))
        const expected = [...conditions.keys()].filter((index) => {
          const condition = conditions[index]
          return condition !== undefined && matches(condition, arrived)
        })
        expect([...set.holding(requestRoot(arrived))].sort((a, b) => a - b)).toEqual(expected)
      }),
      { numRuns: 300 },
    )
  })

  test('evaluated in pieces, the same hold', () => {
    const reaching = fc.record({
      path: fc.constantFrom(
        'body.b[*]',
        'body.c[*].d',
        'body.c.*.*',
        'body.c[*][*]',
        'body.a',
        'body',
        'headers.X-A',
      ),
      op: fc.constantFrom('in', 'nin', 'exists'),
    })
    const leaves = reaching.map(({ path, op }) =>
      leaf(path, op, op === 'exists' ? false : [1, { d: 1 }, [1], 'a']),
    )
    const nested = fc.array(
      fc.oneof(fc.constantFrom<unknown>(1, { d: 1 }), fc.array(fc.constantFrom(1, 'x'))),
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(tree, leaves), { maxLength: 8 }), captured, nested, (trees, body, c) => {
        const conditions = trees.map((each) => parsed(each))
        const root = requestRoot(json({ ...body, c }))
        for (const condition of conditions)
          expect(drained(holdsInSteps(condition, root)).result).toBe(holds(condition, root))
        const set = new ConditionSet(conditions.map((condition, item) => ({ condition, item })))
        expect(drained(set.holdingInSteps(root)).result).toEqual(set.holding(root))
      }),
      { numRuns: 500 },
    )
  })

  test.each([
    ['many values', leaf('body[*]', 'eq', 2), '1', 64],
    ['paths that lead nowhere', leaf('body[*].a', 'eq', 2), '{}', 16 * 64],
    ['many lists', leaf('body[*][*]', 'eq', 2), '[]', 16],
    ['a long list of values to compare with', leaf('body[*]', 'nin', [{ a: 1 }, { b: 1 }]), '{}', 16 / 3],
    ['texts', leaf('body[*]', 'contains', 'b', true), `"${'a'.repeat(1000)}"`, 14],
  ])('a piece is short: %s', (_, condition, item, itemsOfPiece) => {
    const items = 1000
    const root = requestRoot(request({ text: `[${`${item},`.repeat(items - 1)}${item}]` }))
    const { pieces } = drained(holdsInSteps(parsed(condition), root))
    expect(pieces).toBeGreaterThanOrEqual(Math.floor(items / itemsOfPiece))
  })

  test('looks are counted by leaves and by the values that are compared one after the other', () => {
    const objects = Array.from({ length: 30 }, (_, n) => ({ n }))
    expect(looksOf(parsed({}))).toBe(0)
    expect(
      looksOf(parsed({ any: [leaf('body.a', 'eq', 1), { not: leaf('body.b', 'in', ['a', 'b', 1]) }] })),
    ).toBe(2)
    expect(looksOf(parsed(leaf('body[*]', 'in', objects)))).toBe(31)
  })

  test('cannot fault on any body', () => {
    fc.assert(
      fc.property(
        tree,
        fc.uint8Array({ maxLength: 60 }),
        fc.constantFrom('application/json', null, 'application/x-www-form-urlencoded', 'x'),
        (condition, body, contentType) => {
          expect(
            typeof holdsFor(
              condition,
              request({ body, contentType, queryString: 'q=%&q', headers: [['X-A', '\xff']] }),
            ),
          ).toBe('boolean')
        },
      ),
    )
  })

  test('{} always holds', () => {
    expect(holdsFor({}, request())).toBe(true)
  })
})

describe('what is refused', () => {
  test.each<[unknown, string[]]>([
    [[], ['/ type']],
    ['x', ['/ type']],
    [{ all: [{}] }, ['/all/0 not_allowed']],
    [{ not: {} }, ['/not not_allowed']],
    [{ all: [] }, ['/all too_short']],
    [{ any: 1 }, ['/any type']],
    [{ all: Array.from({ length: 21 }, () => leaf('method', 'exists')) }, ['/all too_many']],
    [{ all: [leaf('method', 'exists')], not: leaf('method', 'exists') }, ['/not unknown_field']],
    [
      { path: 'bdy.x', op: 'eqq', valu: 1 },
      ['/path bad_path', '/op unknown_op', '/valu unknown_field', '/value required'],
    ],
    [{ value: 1 }, ['/path required', '/op required']],
    [{ path: 1, op: 2 }, ['/path type', '/op type', '/value required']],
    [leaf('body.a', 'in', 'x'), ['/value type']],
    [leaf('body.a', 'in', ['x'.repeat(1001), 1]), ['/value/0 too_long']],
    [leaf('body.a', 'in', Array(101).fill(1)), ['/value too_many']],
    [leaf('body.a', 'gt', 'soon'), ['/value bad_format']],
    [leaf('body.a', 'gt', true), ['/value type']],
    [leaf('body.a', 'startsWith', 1), ['/value type']],
    [leaf('body.a', 'like', '*'.repeat(9)), ['/value too_many']],
    [leaf('body.a', 'like', '\\*'.repeat(9)), []],
    [leaf('body.a', 'like', 'x'.repeat(201)), ['/value too_long']],
    [leaf('body.a', 'exists', 'yes'), ['/value type']],
    [leaf('body.a', 'eq', 'é'.repeat(1001)), ['/value too_long']],
    [leaf('body.a', 'eq', '😀'.repeat(1000)), []],
    [{ ...leaf('body.a', 'eq', 1), ignoreCase: 'no' }, ['/ignoreCase type']],
    [{ ...leaf('body.a', 'gt', 1), ignoreCase: true }, []],
    [
      { any: [leaf('headers', 'exists'), leaf('query[0]', 'exists'), leaf('headers.X[0]', 'exists')] },
      ['/any/0/path bad_path', '/any/1/path bad_path', '/any/2/path bad_path'],
    ],
    [
      {
        all: [
          leaf('request.id', 'exists'),
          leaf('body.a b', 'exists'),
          leaf('body[01]', 'exists'),
          leaf('body.', 'exists'),
        ],
      },
      ['/all/0/path bad_path', '/all/1/path bad_path', '/all/2/path bad_path', '/all/3/path bad_path'],
    ],
    [leaf(`body.${'x'.repeat(196)}`, 'exists'), ['/path too_long']],
    [leaf(`body${'.x'.repeat(21)}`, 'exists'), ['/path bad_path']],
    [leaf(`body${'.x'.repeat(20)}`, 'exists'), []],
    [{ not: { not: { not: { not: leaf('method', 'exists') } } } }, []],
    [{ not: { not: { not: { not: { not: leaf('method', 'exists') } } } } }, ['/not/not/not/not too_deep']],
    [
      {
        all: Array.from({ length: 6 }, () => ({
          all: Array.from({ length: 9 }, () => leaf('method', 'exists')),
        })),
      },
      ['/ too_many'],
    ],
    [leaf('body.a', 'eq', ['x'.repeat(17_000)]), ['/ too_long']],
  ])('%j', (condition, expected) => {
    expect(wrong(condition)).toEqual(expected)
  })
})

describe('as stored and in words', () => {
  test('key order and number spelling survive, a bare leaf becomes a group', () => {
    const raw = '{ "op":"eq", "path":"body.id", "value": 1.0 }'
    const result = parseCondition(JSON.parse(raw), raw)
    expect('condition' in result && result.condition.text).toBe(
      '{"all":[{"op":"eq","path":"body.id","value":1.0}]}',
    )
  })

  test('identical means equal after RFC 8785', () => {
    const left = '{"path":"body.id","op":"eq","value":1.0}'
    const isSame = (right: string) => sameDocument(storedCondition(left).text, storedCondition(right).text)
    expect(isSame('{"all":[{"op":"eq","value":1,"path":"body.id"}]}')).toBe(true)
    expect(isSame('{"path":"body.id","op":"eq","value":1.1}')).toBe(false)
  })

  test.each([
    [{}, 'Always'],
    [
      { all: [leaf('body.type', 'startsWith', 'invoice.'), { not: leaf('headers.X-Env', 'eq', 'test') }] },
      'body.type starts with "invoice." and not (headers.X-Env is "test")',
    ],
    [
      {
        all: [
          { any: [leaf('body.a', 'gte', 1000), leaf('body.b', 'eq', 'high', true)] },
          leaf('body.c', 'exists'),
        ],
      },
      '(body.a is at least 1000 or body.b is "high" (any case)) and body.c exists',
    ],
    [
      { not: { any: [leaf('body.c', 'exists', false), leaf('label', 'in', ['a', 'b'])] } },
      'not (body.c does not exist or label is one of ["a","b"])',
    ],
    [leaf('body.a', 'gt', 1, true), 'body.a is greater than 1'],
  ])('%j', (condition, words) => {
    expect(describeCondition(parsed(condition))).toBe(words)
  })

  test('a description is cut at 300 characters', () => {
    const words = describeCondition(
      parsed({ all: Array.from({ length: 9 }, () => leaf('body.a', 'eq', '😀'.repeat(50))) }),
    )
    expect([...words]).toHaveLength(300)
    expect(words.isWellFormed()).toBe(true)
  })
})

describe('hostile senders', () => {
  /** Milliseconds of the processor. Generous, since machines differ: work that is not linear takes seconds here. */
  const bound = 3000

  function timed(work: () => void): number {
    const used = processorTime()
    work()
    return used()
  }

  test('text that almost matches, over and over', () => {
    const text = 'a'.repeat(256 * 1024)
    const needles = [`${'a'.repeat(499)}b${'a'.repeat(500)}`, `${'a'.repeat(999)}b`]
    const condition = parsed({
      all: [
        ...needles.map((needle) => ({ not: leaf('body', 'contains', needle) })),
        ...needles.map((needle) => ({ not: leaf('body', 'contains', needle, true) })),
        { not: leaf('body', 'like', `*${'a'.repeat(90)}b*${'a'.repeat(90)}c*`) },
        { not: leaf('body', 'like', '*a*a*a*a*a*a*a*b') },
      ],
    })
    const captured = request({ text, contentType: 'text/plain' })
    expect(matches(condition, captured)).toBe(true)
    expect(timed(() => matches(condition, captured))).toBeLessThan(bound)
  })

  test('a list of hundreds of thousands against a list of a hundred', () => {
    const text = `{"a":[${'1,'.repeat(450_000)}2]}`
    const condition = parsed({
      not: leaf(
        'body.a[*]',
        'in',
        Array.from({ length: 100 }, (_, n) => n + 10),
      ),
    })
    const captured = request({ text })
    expect(matches(condition, captured)).toBe(true)
    expect(timed(() => matches(condition, captured))).toBeLessThan(bound)
  })

  test('thousands of looks into a query of tens of thousands of parameters', () => {
    const root = requestRoot({ ...request({ text: '' }), queryString: `${'a&'.repeat(75_000)}b=1&b=%32` })
    let found = 0
    const work = () => {
      for (let look = 0; look < 50_000; look += 1) found += root.queryValues('missing').length
    }
    expect(timed(work)).toBeLessThan(bound)
    expect(found).toBe(0)
    expect(root.queryValues('b')).toEqual(['1', '2'])
  })

  test('numbers of a million digits', () => {
    const captured = request({ text: `{"a":${'9'.repeat(1_000_000)}}` })
    expect(timed(() => expect(holdsFor(leaf('body.a', 'gt', 1), captured)).toBe(true))).toBeLessThan(bound)
  })
})
