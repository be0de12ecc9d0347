import { describe, expect, test } from 'bun:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { processorTime } from '../../../../../tests/support/processorTime.ts'
import { sameDocument } from '../../json/index.ts'
import { decodeRule } from './decode.ts'
import { ruleJsonSchema } from './document.ts'

const step = { op: 'remove', paths: ['body.a'] }

function rule(...steps: unknown[]) {
  return { version: 1, name: 'Slim', steps }
}

function compute(fn: string, args: unknown[], path = 'body.x') {
  return rule({ op: 'compute', path, fn, args })
}

/** `pointer code` of every issue. */
function wrong(document: unknown): string[] {
  const result = decodeRule(document)
  return 'issues' in result ? result.issues.map(({ path, code }) => `/${path.join('/')} ${code}`) : []
}

function nested(depth: number): unknown {
  return depth === 0 ? 1 : { fn: 'abs', args: [nested(depth - 1)] }
}

const VALID: readonly unknown[] = [
  rule(step),
  { ...rule(step), when: null },
  { ...rule(step), when: {} },
  { ...rule(step), when: { all: [{ path: 'body.type', op: 'startsWith', value: 'invoice.' }] } },
  { ...rule(step), when: { path: 'body.a', op: 'gt', value: '2026-11-21T09:15:00Z' } },
  { ...rule(step), when: { path: 'body.a', op: 'lt', value: '2026-11-21' } },
  { ...rule(step), when: { path: 'body.a', op: 'lte', value: '2026-11-21T09:15+01:00' } },
  { ...rule(step), when: { not: { path: 'body.a', op: 'like', value: 'a*\\*b' } } },
  {
    ...rule(step),
    when: {
      any: [
        { path: 'query.x', op: 'exists' },
        { path: 'ip', op: 'in', value: [] },
      ],
    },
  },
  { ...rule(step), name: '😀'.repeat(100) },
  rule({ op: 'keep', paths: ['body.a[*].b', 'headers.Host'] }),
  rule({ op: 'rename', from: 'headers.X-A', to: 'body["odd name"][0]' }),
  rule({ op: 'redact', paths: ['body.a'], with: '' }),
  rule({ op: 'redact', paths: ['headers.Authorization'] }),
  rule({ op: 'set', path: 'body.a', value: null }),
  rule({ op: 'set', path: 'body.a', value: { deep: [1, { x: 'y' }] } }),
  rule({ op: 'set', path: 'headers.X-A', value: 'text' }),
  rule({ op: 'template', path: 'body.a', template: '{{ body.b }} \\{{ {{request.id}}' }),
  compute('concat', ['body.a', { literal: 'x' }, 1, true, null]),
  compute('now', []),
  compute('abs', [nested(9)]),
  compute('formatDate', ['body.at', { literal: 'dd.MM.yyyy HH:mm' }, { literal: 'Europe/Zurich' }]),
  compute('sha256', ['body.a', { literal: 'base64' }]),
  compute('hmacSha256', [{ raw: 'body' }, { secret: 'signing', decode: 'base64' }], 'headers.X-Sig'),
  compute(
    'concat',
    [
      { literal: 'sha256=' },
      {
        fn: 'hmacSha256',
        args: [{ fn: 'concat', args: ['headers.X-T', { raw: 'body' }] }, { secret: 'signing' }],
      },
    ],
    'headers.X-Sig',
  ),
]

const INVALID: readonly (readonly [unknown, string[]])[] = [
  [null, ['/ type']],
  [[], ['/ type']],
  [{}, ['/version required', '/name required', '/steps required']],
  [{ ...rule(step), version: 2 }, ['/version unknown_value']],
  [{ ...rule(step), version: '1' }, ['/version type']],
  [{ ...rule(step), name: '' }, ['/name too_short']],
  [{ ...rule(step), name: 'x'.repeat(101) }, ['/name too_long']],
  [{ ...rule(step), name: 'a\u0000b' }, ['/name not_allowed']],
  [{ ...rule(step), name: 7, extra: 1 }, ['/name type', '/extra unknown_field']],
  [rule(), ['/steps too_short']],
  [rule(...Array(51).fill(step)), ['/steps too_many']],
  [rule({ op: 'map' }, 1, {}), ['/steps/0/op unknown_op', '/steps/1 type', '/steps/2/op required']],
  [rule({ op: 1 }), ['/steps/0/op type']],
  [rule({ op: 'keep', paths: [] }), ['/steps/0/paths too_short']],
  [rule({ op: 'keep', paths: 'body.a' }), ['/steps/0/paths type']],
  [rule({ op: 'remove', paths: Array(51).fill('body.a') }), ['/steps/0/paths too_many']],
  [
    rule({
      op: 'remove',
      paths: [
        'body',
        'bdy.a',
        1,
        'query.x',
        'body.ok',
        'headers.Host',
        'headers.creel-x',
        'headers.Proxy-Authorization',
      ],
    }),
    [
      '/steps/0/paths/0 bad_path',
      '/steps/0/paths/1 bad_path',
      '/steps/0/paths/2 type',
      '/steps/0/paths/3 bad_path',
      '/steps/0/paths/5 not_allowed',
      '/steps/0/paths/6 not_allowed',
      '/steps/0/paths/7 not_allowed',
    ],
  ],
  [
    rule({ op: 'rename', from: 'body.a[*]', to: 'headers' }),
    ['/steps/0/from bad_path', '/steps/0/to bad_path'],
  ],
  [
    rule({ op: 'rename', from: 'body.a', To: 'body.b' }),
    ['/steps/0/To unknown_field', '/steps/0/to required'],
  ],
  [rule({ op: 'redact', paths: ['body.a'], with: 'x'.repeat(201) }), ['/steps/0/with too_long']],
  [rule({ op: 'redact', paths: ['body.a'], with: null }), ['/steps/0/with type']],
  [rule({ op: 'set', path: 'body.a' }), ['/steps/0/value required']],
  [rule({ op: 'set', path: 'headers.X', value: 5 }), ['/steps/0/value type']],
  [
    rule({ op: 'set', path: 'headers.X', value: 5, odd: 1 }),
    ['/steps/0/value type', '/steps/0/odd unknown_field'],
  ],
  [rule({ op: 'set', path: 'body.a', value: 'x'.repeat(8200) }), ['/steps/0/value too_long']],
  [rule({ op: 'template', path: 'body.a', template: '{{ nothing }}' }), ['/steps/0/template bad_template']],
  [rule({ op: 'template', path: 'body.a', template: '{{ body.a' }), ['/steps/0/template bad_template']],
  [rule({ op: 'template', path: 'body.a', template: 'x'.repeat(4001) }), ['/steps/0/template too_long']],
  [compute('evil', ['body.a']), ['/steps/0/fn unknown_function']],
  [compute('lower', []), ['/steps/0/args arity']],
  [compute('lower', ['body.a', 'body.b']), ['/steps/0/args arity']],
  [compute('concat', Array(21).fill('body.a')), ['/steps/0/args too_many']],
  [compute('concat', []), ['/steps/0/args arity']],
  [
    compute('concat', ['plain text', { literal: 1, x: 2 }, {}, []]),
    [
      '/steps/0/args/0 bad_path',
      '/steps/0/args/1/x unknown_field',
      '/steps/0/args/2 type',
      '/steps/0/args/3 type',
    ],
  ],
  [
    compute('concat', ['body.a[*]', { fn: 'evil', args: [{ fn: 'lower', args: ['bdy'] }] }]),
    [
      '/steps/0/args/0 bad_path',
      '/steps/0/args/1/fn unknown_function',
      '/steps/0/args/1/args/0/args/0 bad_path',
    ],
  ],
  [
    compute('abs', [nested(10)]),
    ['/steps/0/args/0/args/0/args/0/args/0/args/0/args/0/args/0/args/0/args/0/args/0 too_deep'],
  ],
  [compute('sha256', ['body.a', { literal: 'base58' }]), ['/steps/0/args/1 unknown_value']],
  [
    compute('formatDate', ['body.a', { literal: "yyyy-MM-dd'T'HH" }, { literal: 'Mars/Base' }]),
    ['/steps/0/args/1 unknown_value', '/steps/0/args/2 unknown_value'],
  ],
  [compute('lower', [{ secret: 'signing' }]), ['/steps/0/args/0 not_allowed']],
  [
    compute('hmacSha256', [{ secret: 'signing' }, { secret: 'other' }], 'headers.X'),
    ['/steps/0/args/0 not_allowed', '/steps/0/args/1/secret unknown_value'],
  ],
  [compute('hmacSha256', [{ raw: 'body' }, { secret: 'signing' }]), ['/steps/0/args/0 not_allowed']],
  [compute('sha256', [{ raw: 'headers' }], 'headers.X'), ['/steps/0/args/0/raw unknown_value']],
  [
    { ...rule(step), when: { all: [{ path: 'x', op: 'eqq' }] } },
    ['/when/all/0/path bad_path', '/when/all/0/op unknown_op', '/when/all/0/value required'],
  ],
  [{ ...rule(step), when: 'always' }, ['/when type']],
  [rule(...Array(5).fill({ op: 'set', path: 'body.a', value: 'x'.repeat(8000) })), ['/ too_long']],
]

describe('the decoder', () => {
  test.each(VALID.map((document) => [document]))('accepts %j', (document) => {
    expect(wrong(document)).toEqual([])
  })

  test.each(INVALID.map(([document, issues]) => [document, issues] as const))(
    'refuses %j',
    (document, issues) => {
      expect(wrong(document)).toEqual(issues)
    },
  )

  test('every detail is a sentence', () => {
    for (const [document] of INVALID) {
      const result = decodeRule(document)
      for (const { detail } of 'issues' in result ? result.issues : []) expect(detail).toMatch(/^.{10,}\.$/s)
    }
  })

  test("keeps the author's key order and number spelling", () => {
    const raw = '{"steps":[{"op":"set","value":1.0,"path":"body.a"}], "name":"x","version":1}'
    const result = decodeRule(JSON.parse(raw), raw)
    expect('rule' in result && result.rule.text).toBe(raw.replace('], ', '],'))
    expect(
      sameDocument(raw, '{"version":1,"name":"x","steps":[{"op":"set","path":"body.a","value":1}]}'),
    ).toBe(true)
    expect(sameDocument(raw, raw.replace('1.0', '1.5'))).toBe(false)
  })
})

describe('the served JSON Schema', () => {
  const accepts = new Ajv2020({ strict: true, allErrors: true }).compile(ruleJsonSchema())

  test('holds nothing that a library left in it: one title, no $id, null by its type', () => {
    const text = JSON.stringify(ruleJsonSchema())
    expect(text.match(/"title"/g)).toHaveLength(1)
    expect(text).not.toContain('"$id"')
    expect(text).not.toContain('{"enum":[null]}')
  })

  test('is 2020-12 and names every op and function', () => {
    const schema = JSON.stringify(ruleJsonSchema())
    expect(ruleJsonSchema().$schema).toBe('https://json-schema.org/draft/2020-12/schema')
    for (const word of [
      'keep',
      'remove',
      'rename',
      'redact',
      'set',
      'template',
      'compute',
      'hmacSha256',
      'startsWith',
    ]) {
      expect(schema).toContain(`"${word}"`)
    }
  })

  test.each(VALID.map((document) => [document]))('accepts %j', (document) => {
    expect(accepts(document)).toBe(true)
  })

  /**
   * Codes of checks that the schema cannot express: bytes, arity, depth, placement, header text and template grammar.
   */
  const BEYOND = new Set(['bad_template', 'arity', 'too_deep'])
  const beyond = (document: unknown, issues: readonly string[]) =>
    issues.every((issue) => {
      const [pointer, code = ''] = issue.split(' ')
      if (
        BEYOND.has(code) ||
        (code === 'too_long' && (pointer === '/' || /^\/steps\/\d+\/value$/.test(pointer ?? '')))
      )
        return true
      if (code === 'not_allowed') return pointer?.startsWith('/steps') === true
      if (code === 'unknown_value') return /\/args\/\d+$/.test(pointer ?? '')
      return (
        code === 'type' &&
        pointer?.endsWith('/value') === true &&
        JSON.stringify(document).includes('"headers.X')
      )
    })

  test.each(INVALID.map(([document, issues]) => [document, issues] as const))(
    'agrees on %j',
    (document, issues) => {
      expect(accepts(document)).toBe(beyond(document, issues))
    },
  )

  test('agrees with the decoder on documents that are broken at random', () => {
    const junk = fc.constantFrom<unknown>(
      null,
      1,
      true,
      'body.a',
      '',
      [],
      {},
      { op: 'keep' },
      { fn: 'lower', args: ['body.a'] },
      { literal: 1 },
      [1],
      'x'.repeat(5000),
    )
    fc.assert(
      fc.property(
        fc.constantFrom(...VALID),
        fc.array(fc.nat(30), { minLength: 1, maxLength: 6 }),
        junk,
        fc.nat(2),
        (document, way, value, how) => {
          const broken = breakAt(structuredClone(document), way, value, how)
          const issues = wrong(broken)
          expect({ broken, issues, accepted: accepts(broken) }).toEqual({
            broken,
            issues,
            accepted: beyond(broken, issues),
          })
        },
      ),
      { numRuns: 1000 },
    )
  })
})

/** Replaces, removes or adds a member somewhere in a document. */
function breakAt(document: unknown, way: readonly number[], value: unknown, how: number): unknown {
  if (typeof document !== 'object' || document === null) return value
  const [turn = 0, ...rest] = way
  const keys = Object.keys(document)
  const key = keys[turn % Math.max(1, keys.length)]
  const members = document as Record<string, unknown>
  if (key === undefined) return value
  if (rest.length > 0 && typeof members[key] === 'object' && members[key] !== null) {
    members[key] = breakAt(members[key], rest, value, how)
  } else if (how === 0) members[key] = value
  else if (how === 1 && !Array.isArray(document)) delete members[key]
  else if (!Array.isArray(document)) members.extra = value
  return document
}

describe('fuzzing the decoder', () => {
  test('never throws, whatever the JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        expect(
          'issues' in
            decodeRule({
              version: 1,
              name: 'x',
              when: value,
              steps: [value, { op: 'compute', path: value, fn: 'concat', args: value }],
            }),
        ).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })

  test('a document of a megabyte of nesting is refused quickly', () => {
    const used = processorTime()
    expect(
      wrong(
        JSON.parse(
          `{"version":1,"name":"x","steps":[${'{"op":"compute","args":['.repeat(200)}${']}'.repeat(200)}]}`,
        ),
      ).length,
    ).toBeGreaterThan(0)
    const deep = decodeRule(undefined, `{"steps":${'['.repeat(500_000)}`)
    expect('issues' in deep && deep.issues[0]?.code).toBe('too_deep')
    expect(used()).toBeLessThan(10_000)
  })
})
