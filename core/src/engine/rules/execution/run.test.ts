import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { processorTime } from '../../../../../tests/support/processorTime.ts'
import { bodyAfter, captured, FACTS, ruleOf, runOn, textOf } from '../../../../../tests/support/ruleRuns.ts'
import { decodeRule } from '../language/decode.ts'
import { machineStopwatch } from './meter.ts'
import { runRulesInSteps } from './run.ts'

function hmac(text: string): string {
  return createHmac('sha256', 'a signing secret').update(text).digest('hex')
}

/** Objects with a member each, of different names. */
const objects = (count: number) => Array.from({ length: count }, (_, at) => `{"name-${at}": 1}`).join(',')

/** Objects, which conditions compare one after the other. */
const HUNDRED = Array.from({ length: 100 }, (_, n) => ({ n }))
const EMPTY_OBJECTS = `[${'{},'.repeat(120_000)}{}]`

const FORM = 'application/x-www-form-urlencoded'

const sign = (path: string) => ({
  op: 'compute',
  path,
  fn: 'hmacSha256',
  args: [{ raw: 'body' }, { secret: 'signing' }],
})

describe('a set of rules', () => {
  test('each sees the result of those before it', () => {
    const result = runOn({ body: '{"type":"a"}' }, [
      ruleOf([
        { op: 'set', path: 'body.type', value: 'b' },
        { op: 'set', path: 'headers.X-Env', value: 'test' },
      ]),
      ruleOf([{ op: 'set', path: 'body.saw', value: 'b' }], {
        all: [
          { path: 'body.type', op: 'eq', value: 'b' },
          { path: 'headers.x-env', op: 'eq', value: 'test' },
          { path: 'body', op: 'contains', value: '"b"' },
        ],
      }),
      ruleOf([{ op: 'set', path: 'body.never', value: 1 }], { path: 'body.type', op: 'eq', value: 'a' }),
    ])
    expect(textOf(result)).toBe('{"type":"b","saw":"b"}')
    expect(result.rules.map((rule) => rule.matched)).toEqual([true, true, false])
  })

  test('a body that is too large is the fault of the step that changed it last, not of rules after it', () => {
    const result = runOn({ body: `a=${'x'.repeat(10 * 1024 * 1024 - 10)}`, contentType: FORM }, [
      ruleOf([
        { op: 'set', path: 'headers.X', value: '1' },
        { op: 'set', path: 'body.b', value: 'too much' },
        { op: 'set', path: 'headers.Y', value: '1' },
      ]),
      ruleOf([{ op: 'set', path: 'headers.Z', value: '1' }]),
      ruleOf([{ op: 'redact', paths: ['body.a'] }], { path: 'method', op: 'eq', value: 'PUT' }),
    ])
    expect(result.output).toBeNull()
    expect(result.rules[0]?.fault).toMatchObject({ code: 'too_large', stepIndex: 1 })
    expect(result.rules.slice(1).map(({ fault }) => fault)).toEqual([null, null])
  })

  test('signatures cover the bytes that are sent, though later rules change them', () => {
    const result = runOn({ body: '{"a": 1}' }, [
      ruleOf([sign('headers.X-Sig'), { op: 'set', path: 'body.b', value: 2 }]),
      ruleOf([
        { op: 'remove', paths: ['body.a'] },
        { op: 'compute', path: 'headers.X-Two', fn: 'concat', args: [{ literal: 'v1=' }, 'headers.X-Sig'] },
      ]),
      ruleOf([
        {
          op: 'compute',
          path: 'headers.X-Three',
          fn: 'concat',
          args: [{ literal: 't.' }, { fn: 'sha256', args: [{ raw: 'body' }] }, 'headers.X-Sig'],
        },
      ]),
    ])
    const headers = Object.fromEntries(result.output?.headers ?? [])
    expect(textOf(result)).toBe('{"b":2}')
    expect(headers['X-Sig']).toBe(hmac('{"b":2}'))
    expect(headers['X-Two']).toBe('v1=')
    expect(headers['X-Three']).toEndWith(hmac('{"b":2}'))
    expect(result.rules[0]?.steps.map(({ index, changed }) => [index, changed])).toEqual([
      [0, true],
      [1, true],
    ])
    expect(result.rules[0]?.steps[0]?.note).toContain('after all rules')
  })

  test('untouched bodies are signed and sent byte for byte, binary ones too', () => {
    const body = new Uint8Array([0, 255, 1])
    const result = runOn({ body, contentType: 'application/octet-stream' }, [ruleOf([sign('headers.X-Sig')])])
    expect(result.output?.body).toBe(body)
    expect(result.output?.headers[1]?.[1]).toBe(
      createHmac('sha256', 'a signing secret').update(body).digest('hex'),
    )
  })

  test('a fault stops the set and says where', () => {
    const result = runOn({ body: '{"a":"x"}' }, [
      ruleOf([{ op: 'set', path: 'body.b', value: 1 }]),
      ruleOf([
        { op: 'set', path: 'body.c', value: 1 },
        { op: 'compute', path: 'body.n', fn: 'toNumber', args: ['body.a'] },
      ]),
      ruleOf([{ op: 'set', path: 'body.d', value: 1 }]),
    ])
    expect(result.output).toBeNull()
    expect(result.rules.map((rule) => [rule.matched, rule.fault?.code ?? null])).toEqual([
      [true, null],
      [true, 'bad_number'],
      [false, null],
    ])
    expect(result.rules[1]?.fault).toMatchObject({ stepIndex: 1, counted: true })
  })

  test('a form that is given more than texts faults at the step that did it', () => {
    const sample = { body: 'a=1&b=2', contentType: 'application/x-www-form-urlencoded' }
    for (const step of [
      { op: 'set', path: 'body.a', value: { x: 1 } },
      { op: 'set', path: 'body.a', value: [['x']] },
      { op: 'set', path: 'body.c.d', value: 'x' },
      { op: 'compute', path: 'body.a', fn: 'parseJson', args: [{ literal: '{"x":1}' }] },
    ]) {
      const result = runOn(sample, [ruleOf([step]), ruleOf([{ op: 'remove', paths: ['body.b'] }])])
      expect(result.rules.map((rule) => rule.fault?.code ?? null)).toEqual(['type', null])
    }
    expect(textOf(runOn(sample, [ruleOf([{ op: 'rename', from: 'body.b', to: 'body.c[0]' }])]))).toBe(
      'a=1&c=2',
    )
  })

  test('no secret', () => {
    const result = runOn({ body: '{}' }, [ruleOf([sign('headers.X')])], { secret: () => null })
    expect(textOf(result)).toBe('fault: no_secret')
  })

  test('a Base64 secret is decoded when asked', () => {
    const secret = Buffer.from('raw key')
    const step = {
      op: 'compute',
      path: 'headers.X',
      fn: 'hmacSha1',
      args: [{ raw: 'body' }, { secret: 'signing', decode: 'base64' }, { literal: 'base64' }],
    }
    const result = runOn({ body: '{}' }, [ruleOf([step])], {
      secret: () => Buffer.from(secret.toString('base64')),
    })
    expect(result.output?.headers[1]?.[1]).toBe(createHmac('sha1', secret).update('{}').digest('base64'))
    expect(textOf(runOn({ body: '{}' }, [ruleOf([step])]))).toBe('fault: bad_encoding')
  })

  test('uuid is one a step, the same on every attempt', () => {
    const rule = ruleOf([
      {
        op: 'compute',
        path: 'body.a',
        fn: 'concat',
        args: [{ fn: 'uuid', args: [] }, { literal: '/' }, { fn: 'uuid', args: [] }],
      },
      { op: 'compute', path: 'body.b', fn: 'uuid', args: [] },
    ])
    const [first, second] = [0, 1].map(() => JSON.parse(textOf(runOn({ body: '{}' }, [rule]))))
    expect(second).toEqual(first)
    const [one, two] = String(first.a).split('/')
    expect(one).toBe(two)
    expect(first.b).not.toBe(one)
    expect(first.b).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(
      JSON.parse(textOf(runOn({ body: '{}' }, [ruleOf([{ op: 'remove', paths: ['body.a'] }]), rule]))).b,
    ).not.toBe(first.b)
  })

  test('now is the start of the attempt', () => {
    expect(bodyAfter('{}', [{ op: 'compute', path: 'body.at', fn: 'now', args: [] }])).toBe(
      '{"at":"2026-11-21T09:15:01.500Z"}',
    )
  })
})

describe('algebra', () => {
  const name = fc.constantFrom('a', 'b', 'c', '0', '10')
  const json = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(null, true, 'x', 1.5, 9007199254740992),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(name, tie('value'), { maxKeys: 4 }),
    ),
  })).value
  const object = fc.dictionary(name, json, { maxKeys: 5 })
  const path = fc
    .array(
      fc.oneof(
        name.map((each) => `["${each}"]`),
        fc.constantFrom('[0]', '[-1]', '[*]'),
      ),
      { minLength: 1, maxLength: 4 },
    )
    .map((segments) => `body${segments.join('')}`)
  const paths = fc.array(path, { minLength: 1, maxLength: 4 })

  test('keep then keep is keep', () => {
    fc.assert(
      fc.property(object, paths, (body, kept) => {
        // Negative indexes count from the end of the remaining list, so this law does not hold for them.
        const step = {
          op: 'keep',
          paths: kept.map((each) => each.replaceAll('[-1]', '[*]').replaceAll('[0]', '[*]')),
        }
        const once = bodyAfter(JSON.stringify(body), [step])
        expect(bodyAfter(once, [step])).toBe(once)
        expect(bodyAfter(JSON.stringify(body), [step, step])).toBe(once)
      }),
      { numRuns: 500 },
    )
  })

  test('what was removed is missing', () => {
    fc.assert(
      fc.property(object, path, (body, removed) => {
        const plain = removed.replaceAll('[-1]', '[*]').replaceAll('[0]', '[*]')
        const result = runOn({ body: JSON.stringify(body) }, [
          ruleOf([{ op: 'remove', paths: [plain] }]),
          ruleOf([{ op: 'set', path: 'headers.X-Still', value: 'there' }], { path: plain, op: 'exists' }),
        ])
        expect(result.rules[1]?.matched).toBe(false)
      }),
      { numRuns: 500 },
    )
  })

  test('rename there and back changes nothing but the order', () => {
    fc.assert(
      fc.property(object, name, (body, from) => {
        const text = bodyAfter(JSON.stringify(body), [
          { op: 'rename', from: `body["${from}"]`, to: 'body.elsewhere' },
          { op: 'rename', from: 'body.elsewhere', to: `body["${from}"]` },
        ])
        expect(JSON.parse(text)).toEqual(body)
      }),
      { numRuns: 300 },
    )
  })

  test('untouched members keep their digits and their order', () => {
    const number = fc.constantFrom(
      '1.0',
      '9007199254740993',
      '-0',
      '1E5',
      '0.10',
      '123456789012345678901234567890',
    )
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(name, number), { selector: ([key]) => key, minLength: 1 }),
        (members) => {
          const text = (extra: string) =>
            `{${members.map(([key, digits]) => `"${key}":{"v":${digits}}`).join(',')}${extra}}`
          expect(bodyAfter(text(''), [{ op: 'set', path: 'body.new', value: 1 }])).toBe(text(',"new":1'))
        },
      ),
    )
  })
})

describe('bounds', () => {
  const wide = `{"data":{"list":[${'"xxxxxxxxxx",'.repeat(2000)}1]}}`

  test('copies of copies end', () => {
    const steps = Array.from({ length: 50 }, (_, index) => ({
      op: 'compute',
      path: `body.data.c${index}`,
      fn: 'coalesce',
      args: ['body.data'],
    }))
    const used = processorTime()
    expect(bodyAfter(wide, steps)).toBe('fault: too_large')
    expect(used()).toBeLessThan(5000)
  })

  test('a value does not turn up in itself', () => {
    expect(
      bodyAfter('{"a":{"b":1}}', [
        { op: 'compute', path: 'body.a.self', fn: 'coalesce', args: ['body.a'] },
        { op: 'set', path: 'body.a.b', value: 2 },
      ]),
    ).toBe('{"a":{"b":2,"self":{"b":1}}}')
  })

  test('nesting ends', () => {
    const long = `body${'.n'.repeat(20)}`
    const steps = Array.from({ length: 40 }, () => [
      { op: 'rename', from: 'body.n', to: 'body.m' },
      { op: 'rename', from: 'body.m', to: long },
    ])
      .flat()
      .slice(0, 50)
    expect(bodyAfter('{"n":{}}', steps)).toBe('fault: too_large')
  })

  test('results over 1 MiB and bodies over 10 MiB fault', () => {
    const half = JSON.stringify({ t: 'x'.repeat(600_000) })
    expect(bodyAfter(half, [{ op: 'template', path: 'body.u', template: '{{body.t}}{{body.t}}' }])).toBe(
      'fault: too_large',
    )
    expect(
      bodyAfter(half, [{ op: 'compute', path: 'body.u', fn: 'concat', args: ['body.t', 'body.t'] }]),
    ).toBe('fault: too_large')
    const steps = Array.from({ length: 20 }, (_, index) => ({
      op: 'compute',
      path: `body.c${index}`,
      fn: 'coalesce',
      args: ['body.t'],
    }))
    expect(bodyAfter(half, steps)).toBe('fault: too_large')
  })

  test('a rule has 100 ms of work, each its own, and a set 250 ms', () => {
    const rule = ruleOf([
      { op: 'set', path: 'body.a', value: 1 },
      { op: 'set', path: 'body.b', value: 1 },
    ])
    const after = (millisecondsPerLook: number, count = 3) => {
      let time = 0
      const worked = () => {
        time += millisecondsPerLook
        return time
      }
      const rules = Array.from({ length: count }, () => rule)
      return textOf(runOn({ body: '{}' }, rules, { stopwatch: { worked } }))
    }
    expect(after(20)).toBe('{"a":1,"b":1}')
    expect(after(60)).toBe('fault: too_slow')
    // Each rule stays within its time, but together they exceed that of the set.
    expect(after(20, 10)).toBe('fault: too_slow')
  })

  test('steps that read the raw body have what is left of the time of their rule', () => {
    const mac = (data: object) => ({ fn: 'hmacSha256', args: [data, { secret: 'signing' }] })
    const rule = ruleOf([
      { op: 'compute', path: 'headers.A', ...mac({ literal: 'text' }) },
      { op: 'compute', path: 'headers.B', ...mac({ raw: 'body' }) },
    ])
    const after = (millisecondsPerMac: number) => {
      let time = 0
      const secret = () => {
        time += millisecondsPerMac
        return Buffer.from('secret')
      }
      return textOf(runOn({ body: '{}' }, [rule, rule], { secret, stopwatch: { worked: () => time } }))
    }
    expect(after(40)).toBe('{}')
    expect(after(60)).toBe('fault: too_slow')
  })

  test('a condition is work, too', () => {
    const leaves = Array.from({ length: 20 }, (_, index) => ({ path: 'body.a[*]', op: 'gt', value: index }))
    const rule = ruleOf([{ op: 'set', path: 'body.b', value: 1 }], { any: leaves })
    const body = `{"a":[${'-1,'.repeat(300_000)}-1]}`
    const { output, rules } = runOn({ body }, [rule], { stopwatch: machineStopwatch })
    expect(output).toBeNull()
    expect(rules).toMatchObject([{ matched: false, steps: [], fault: { stepIndex: 0, code: 'too_slow' } }])
  })

  test.each([
    ['compares one path with many values', { query: '' }, { path: 'body[*]', op: 'in', value: HUNDRED }, {}],
    [
      'might hold if the body could be read',
      { query: 'a&'.repeat(20_000), body: '\0' },
      {
        all: [
          { path: 'query.a', op: 'in', value: HUNDRED },
          { path: 'body.b', op: 'exists' },
        ],
      },
      { isForStoring: true },
    ],
    [
      'is explained',
      { body: EMPTY_OBJECTS },
      {
        any: [
          { path: 'method', op: 'eq', value: 'POST' },
          { path: 'body[*].a[*]', op: 'exists' },
        ],
      },
      { explains: true },
    ],
  ])('a condition that %s is stopped within a path', (_what, sample, when, more) => {
    let looks = 0
    // A look at the time takes a millisecond, all else none.
    const stopwatch = { worked: () => looks++ }
    const rule = ruleOf([{ op: 'set', path: 'headers.B', value: '1' }], when)
    const { output, rules } = runOn({ body: EMPTY_OBJECTS, ...sample }, [rule], { stopwatch, ...more })
    expect(output).toBeNull()
    expect(rules).toMatchObject([{ matched: false, steps: [], fault: { stepIndex: 0, code: 'too_slow' } }])
  })

  test('a condition that does not hold runs in pieces, and the time between them does not count', () => {
    let time = 0
    const when = { path: 'body[*]', op: 'in', value: HUNDRED }
    const pieces = runRulesInSteps(
      [{ key: '', rule: ruleOf([{ op: 'set', path: 'headers.B', value: '1' }], when) }],
      {
        request: captured({ body: `[${'{},'.repeat(1000)}{}]` }),
        facts: FACTS,
        now: new Date(),
        secret: () => null,
        stopwatch: { worked: () => time },
      },
    )
    let count = 0
    let piece = pieces.next()
    for (; piece.done !== true; piece = pieces.next()) {
      count += 1
      time += 1000
    }
    expect(count).toBeGreaterThan(100)
    expect(piece.value.rules).toMatchObject([{ matched: false, fault: null }])
  })

  test('placeholders of a template are looked at one by one', () => {
    let looks = 0
    const stopwatch = { worked: () => looks++ }
    const rule = ruleOf([{ op: 'template', path: 'headers.X', template: '{{query.b}}'.repeat(300) }])
    expect(textOf(runOn({ query: 'b=1' }, [rule], { stopwatch }))).toBe('fault: too_slow')
  })

  test('a large body is not held against the rule that reads it', () => {
    const body = `{"a":[${'1.50,'.repeat(500_000)}0]}`
    const keep = ruleOf([{ op: 'keep', paths: ['body.b'] }])
    expect(textOf(runOn({ body }, [keep], { stopwatch: machineStopwatch }))).toBe('{}')
  })

  test('ten megabytes of body, and steps that would make gigabytes of it', () => {
    const body = JSON.stringify({ t: 'e'.repeat(10_000_000) })
    const after = (step: object) => bodyAfter(body, [{ path: 'body.u', ...step }])
    expect(after({ op: 'template', template: '{{body.t}}'.repeat(400) })).toBe('fault: too_large')
    const replace = (substitute: string) => ({
      op: 'compute',
      fn: 'replace',
      args: ['body.t', { literal: 'e' }, { literal: substitute }],
    })
    expect(after(replace('ee'))).toBe('fault: too_large')
    expect(after({ op: 'compute', fn: 'split', args: ['body.t', { literal: 'e' }] })).toBe('fault: too_large')
    const joined = { fn: 'concat', args: Array(20).fill({ raw: 'body' }) }
    expect(
      bodyAfter(body, [
        {
          op: 'compute',
          path: 'headers.X',
          fn: 'sha1',
          args: [{ fn: 'concat', args: Array(20).fill(joined) }],
        },
      ]),
    ).toBe('fault: too_large')
  })

  test('a form that repeats one name thousands of times', () => {
    const form = `${'a=1&'.repeat(10_000)}b=2`
    expect(bodyAfter(form, [{ op: 'set', path: 'body.b', value: 3 }], FORM)).toHaveLength(form.length)
    expect(bodyAfter(form, [{ op: 'set', path: 'body.a[0]', value: 3 }], FORM)).toHaveLength(form.length)
  })

  test.each([
    ['a form of too many fields', '%41=%zz&'.repeat(1_000_000), FORM, 'not_structured'],
    ['a form that is too long', `a=${'+'.repeat(10_500_000)}`, FORM, 'too_large'],
    ['JSON that is too long', `{${'"1":1.0,'.repeat(1_400_000)}"a":1}`, 'application/json', 'too_large'],
    ['JSON of too many values', `[${'1,'.repeat(2_000_001)}1]`, 'application/json', 'too_large'],
    ['JSON of too many objects', `[${'{},'.repeat(1_100_000)}1]`, 'application/json', 'too_large'],
    ['JSON of too many names', `[${objects(103_000)}]`, 'application/json', 'too_large'],
  ])('%s is refused unread', (_, body, contentType, code) => {
    const used = processorTime()
    const { rules } = runOn({ body, contentType }, [ruleOf([{ op: 'remove', paths: ['body.a'] }])])
    expect(rules[0]?.fault).toMatchObject({ code, counted: false })
    expect(used()).toBeLessThan(300)
  })

  test.each([
    ['as many values as are read', `[${'1,'.repeat(1_990_000)}1]`],
    ['nearly as many names', `[${objects(99_000)}]`],
    ['a few names in many objects', `[${`${objects(3)},`.repeat(90_000)}1]`],
    ['many texts with colons and brackets', `[${'"a\\":[{,",'.repeat(150_000)}1]`],
  ])('%s: a rule reads it', (_, body) => {
    expect(bodyAfter(body, [{ op: 'set', path: 'body[0]', value: 2 }])).toStartWith('[2,')
  })

  test('a condition on a body that is too long is a fault, and one on a header is not', () => {
    const body = `["${'x'.repeat(10_500_000)}"]`
    const after = (path: string) =>
      runOn({ body }, [
        ruleOf([{ op: 'set', path: 'headers.X', value: 'x' }], { path, op: 'eq', value: 'b' }),
      ])
    expect(after('body.a').rules[0]?.fault?.code).toBe('too_large')
    expect(after('headers.Y').output?.body).toHaveLength(body.length)
  })

  test('whatever the document and the body: a result or a fault, in time', () => {
    const path = fc.constantFrom(
      'body.a',
      'body.b[0]',
      'body.b[-1].c',
      'headers.X',
      'body["x y"]',
      'headers.Content-Type',
    )
    const any = fc.constantFrom('body.a', 'body.b[*]', 'body.b[*].c', 'headers.X', 'headers.Content-Type')
    const argument = fc.letrec((tie) => ({
      argument: fc.oneof(
        { maxDepth: 3 },
        path,
        fc.constantFrom(1, -1.5, true, null, 'body', 'query.q'),
        fc
          .constantFrom<unknown>('', '%zz', 'aGk=', '{"a":[1]}', 1e300, [], [1, 'x'], { a: 1 })
          .map((literal) => ({ literal })),
        tie('call'),
      ),
      call: fc.record({
        fn: fc.constantFrom(
          'concat',
          'lower',
          'split',
          'join',
          'substring',
          'replace',
          'length',
          'toNumber',
          'parseJson',
          'toJson',
          'get',
          'first',
          'count',
          'add',
          'divide',
          'round',
          'sum',
          'base64Decode',
          'urlDecode',
          'hexDecode',
          'sha256',
          'toUnix',
          'fromUnix',
          'addSeconds',
          'coalesce',
          'padStart',
          'multiply',
        ),
        args: fc.array(tie('argument'), { maxLength: 3 }),
      }),
    })).call
    const step = fc.oneof(
      fc.record({
        op: fc.constantFrom('keep', 'remove', 'redact'),
        paths: fc.array(any, { minLength: 1, maxLength: 3 }),
      }),
      fc.record({ op: fc.constant('rename'), from: path, to: path }),
      fc.record({ op: fc.constant('set'), path, value: fc.constantFrom<unknown>('x', { c: [1] }, 5, null) }),
      fc.record({ op: fc.constant('template'), path, template: fc.constantFrom('{{body.a}}{{body}}', 'x') }),
      fc.tuple(path, argument).map(([to, call]) => ({ op: 'compute', path: to, ...(call as object) })),
    )
    let ran = 0
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 1, maxLength: 6 }),
        fc.constantFrom(
          '{"a":"x","b":[{"c":1},{"c":2}]}',
          '[]',
          '',
          'a=1&b=2',
          '"s"',
          '\xff',
          '{"a":{"deep":[1.0]},"b":[]}',
        ),
        fc.constantFrom('application/json', 'application/x-www-form-urlencoded', null),
        (steps, body, contentType) => {
          const decoded = decodeRule({ version: 1, name: 'x', steps })
          if (!('rule' in decoded)) return
          ran += 1
          const result = runOn({ body, contentType, query: 'q=1' }, [decoded.rule])
          expect(result.output === null).toBe(result.rules[0]?.fault !== null)
        },
      ),
      { numRuns: 4000 },
    )
    expect(ran).toBeGreaterThan(500)
  })
})
