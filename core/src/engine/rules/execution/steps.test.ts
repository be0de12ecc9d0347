import { describe, expect, test } from 'bun:test'
import { bodyAfter, headersAfter, ruleOf, runOn, textOf } from '../../../../../tests/support/ruleRuns.ts'
import { storedRule } from '../language/decode.ts'

const ORDER =
  '{"id":9007199254740993,"n":1.50,"items":[{"sku":"A","p":1},{"sku":"B","p":2},{"sku":"C"}],"to":{"name":"x","mail":"y"},"z":null}'

function step(op: string, rest: object) {
  return [{ op, ...rest }]
}

describe('.0, .-1 and .* mean elements of a list, and members of an object', () => {
  const both = '{"list":[{"a":1},{"a":2}],"object":{"0":{"a":3},"*":{"a":4},"-1":5}}'
  test.each([
    [
      step('remove', { paths: ['body.list.0', 'body.object.0'] }),
      '{"list":[{"a":2}],"object":{"*":{"a":4},"-1":5}}',
    ],
    [
      step('remove', { paths: ['body.list.-1', 'body.object.-1'] }),
      '{"list":[{"a":1}],"object":{"0":{"a":3},"*":{"a":4}}}',
    ],
    [
      step('redact', { paths: ['body.list.*.a', 'body.object.*.a'] }),
      '{"list":[{"a":"***"},{"a":"***"}],"object":{"0":{"a":3},"*":{"a":"***"},"-1":5}}',
    ],
    [
      step('keep', { paths: ['body.object.0', 'body.object["0"]', 'body.list.1.a'] }),
      '{"list":[{"a":2}],"object":{"0":{"a":3}}}',
    ],
    [
      step('set', { path: 'body.list.2', value: 9 }),
      '{"list":[{"a":1},{"a":2},9],"object":{"0":{"a":3},"*":{"a":4},"-1":5}}',
    ],
    [
      step('set', { path: 'body.new.0', value: 9 }),
      '{"list":[{"a":1},{"a":2}],"object":{"0":{"a":3},"*":{"a":4},"-1":5},"new":{"0":9}}',
    ],
    [step('set', { path: 'body.list.3', value: 9 }), 'fault: not_found_index'],
    [step('set', { path: 'body.list.*', value: 9 }), 'fault: type'],
    [step('rename', { from: 'body.list.*.a', to: 'body.b' }), 'fault: type'],
    [step('template', { path: 'body.b', template: 'x{{body.list.*.a}}' }), 'fault: type'],
    [step('compute', { path: 'body.b', fn: 'add', args: ['body.list.*.a', 1] }), 'fault: type'],
    [
      [
        ...step('rename', { from: 'body.object.*.a', to: 'body.b' }),
        ...step('template', { path: 'body.object.*', template: '{{body.object.*}}{{body.b}}' }),
      ],
      '{"list":[{"a":1},{"a":2}],"object":{"0":{"a":3},"*":"{}4","-1":5},"b":4}',
    ],
    [
      step('rename', { from: 'body.list.0.a', to: 'body.list.-1.b' }),
      '{"list":[{},{"a":2,"b":1}],"object":{"0":{"a":3},"*":{"a":4},"-1":5}}',
    ],
    [
      step('template', { path: 'body.list.0', template: '{{body.list.-1.a}}{{body.object.0.a}}' }),
      '{"list":["23",{"a":2}],"object":{"0":{"a":3},"*":{"a":4},"-1":5}}',
    ],
    [
      step('compute', { path: 'body.object.0', fn: 'add', args: ['body.list.0.a', 'body.object.-1'] }),
      '{"list":[{"a":1},{"a":2}],"object":{"0":6,"*":{"a":4},"-1":5}}',
    ],
  ])('%j', (steps, expected) => {
    expect(bodyAfter(both, steps)).toBe(expected)
  })

  test('in a form, only of a name that is repeated', () => {
    const form = 'application/x-www-form-urlencoded'
    const set = (path: string) => bodyAfter('a=1&a=2&b=3', step('set', { path, value: 'x' }), form)
    expect(set('body.a.0')).toBe('a=x&a=2&b=3')
    expect(set('body.b.0')).toBe('fault: type')
    expect(set('body.c.0')).toBe('fault: type')
  })
})

describe('keep', () => {
  test.each([
    [['body.n', 'body.id'], '{"id":9007199254740993,"n":1.50}'],
    [['body.to.mail'], '{"to":{"mail":"y"}}'],
    [['body.items[-1]', 'body.items[0].sku'], '{"items":[{"sku":"A"},{"sku":"C"}]}'],
    [['body.items[*].p'], '{"items":[{"p":1},{"p":2}]}'],
    [['body.items[*].sku', 'body.items[1].p'], '{"items":[{"sku":"A"},{"sku":"B","p":2},{"sku":"C"}]}'],
    [['body.z'], '{"z":null}'],
    [['body.none', 'body.to.none'], '{}'],
    [['body.to', 'body.to.mail'], '{"to":{"name":"x","mail":"y"}}'],
    [['body.items.-1', 'body.items.0.sku'], '{"items":[{"sku":"A"},{"sku":"C"}]}'],
    [['body.items.*.p', 'body.items.1.sku', 'body.items[1].none'], '{"items":[{"p":1},{"sku":"B","p":2}]}'],
  ])('%j', (paths, expected) => {
    expect(bodyAfter(ORDER, step('keep', { paths }))).toBe(expected)
  })

  test('an element that paths name in several ways keeps what each of them names', () => {
    const list = JSON.stringify(
      Array.from({ length: 3 }, () => ({ a: 1, b: [1, 2], c: { d: 1, e: 1 }, f: 1 })),
    )
    const paths = ['[*].a', '[1].b[0]', '[-2].b[-1]', '[1].c.d', '[-2].c.e', '[-1]', '[2].a'].map(
      (path) => `body${path}`,
    )
    const whole = '{"a":1,"b":[1,2],"c":{"d":1,"e":1},"f":1}'
    expect(bodyAfter(list, step('keep', { paths }))).toBe(
      `[{"a":1},{"a":1,"b":[1,2],"c":{"d":1,"e":1}},${whole}]`,
    )
  })

  test('lists and scalars at the root', () => {
    expect(bodyAfter('[{"a":1,"b":2},{"b":3}]', step('keep', { paths: ['body[*].a'] }))).toBe('[{"a":1}]')
    expect(bodyAfter('"secret"', step('keep', { paths: ['body.a'] }))).toBe('null')
  })

  test('headers: Content-Type and those of the connection survive', () => {
    const steps = step('keep', { paths: ['headers.x-keep'] })
    const result = runOn(
      {
        headers: [
          ['X-Keep', '1'],
          ['X-Go', '2'],
          ['Host', 'h'],
          ['x-keep', '3'],
        ],
        body: '{ "a": 1 }',
      },
      [ruleOf(steps)],
    )
    expect(result.output?.headers.map(([name]) => name)).toEqual(['Content-Type', 'X-Keep', 'Host', 'x-keep'])
    expect(textOf(result)).toBe('{ "a": 1 }')
  })
})

describe('remove', () => {
  test.each([
    [
      ['body.id', 'body.none'],
      '{"n":1.50,"items":[{"sku":"A","p":1},{"sku":"B","p":2},{"sku":"C"}],"to":{"name":"x","mail":"y"},"z":null}',
    ],
    [['body.items[0]', 'body.items[1]', 'body.to', 'body.n', 'body.z', 'body.id'], '{"items":[{"sku":"C"}]}'],
    [['body.items[*]', 'body.to', 'body.n', 'body.z', 'body.id'], '{"items":[]}'],
    [
      ['body.items[*].p', 'body.items[-1]', 'body.to', 'body.n', 'body.z'],
      '{"id":9007199254740993,"items":[{"sku":"A"},{"sku":"B"}]}',
    ],
  ])('%j', (paths, expected) => {
    expect(bodyAfter(ORDER, step('remove', { paths }))).toBe(expected)
  })

  test('all lines of a header', () => {
    expect(
      headersAfter(
        [
          ['X-A', '1'],
          ['x-a', '2'],
          ['X-B', '3'],
        ],
        step('remove', { paths: ['headers.X-A'] }),
      ),
    ).toEqual([['X-B', '3']])
  })
})

describe('rename', () => {
  test.each([
    ['body.id', 'body.key', '{"a":1,"key":2}', '{"id":2,"a":1}'],
    ['body.a', 'body.b', '{"c":3,"b":1}', '{"a":1,"b":2,"c":3}'],
    ['body.a', 'body.x.y', '{"x":{"y":1}}', '{"a":1}'],
    ['body.a.b', 'body.a', '{"a":1}', '{"a":{"b":1,"c":2}}'],
    ['body.none', 'body.a', '{ "a": 1 }', '{ "a": 1 }'],
    ['body.a', 'body.a', '{ "a": 1 }', '{ "a": 1 }'],
    ['body.l[0]', 'body.l[2]', '{"l":[2,1]}', '{"l":[1,2,3]}'],
    ['body.l[0]', 'body.first', '{"l":[2],"first":1}', '{"l":[1,2]}'],
    ['body.a', 'body.a.b', 'fault: type', '{"a":{"c":1}}'],
    ['body.a', 'body.a.b.c', 'fault: type', '{"a":{"c":1}}'],
    ['body.a', 'body.b.c', 'fault: type', '{"a":1,"b":2}'],
    ['body.a', 'headers.X-A', 'fault: type', '{"a":{}}'],
    ['body.a', 'headers.X-A', 'fault: bad_header', '{"a":"x\\r\\ny"}'],
    ['body.a', 'headers.X-A', 'fault: bad_header', '{"a":"€"}'],
  ])('%s to %s makes %s', (from, to, expected, body) => {
    expect(bodyAfter(body, step('rename', { from, to }))).toBe(expected)
  })

  test('crosses from body to header and back', () => {
    const result = runOn(
      {
        body: '{"id":9007199254740993,"b":2}',
        headers: [
          ['X-T', '1'],
          ['x-t', '2'],
        ],
      },
      [
        ruleOf([
          { op: 'rename', from: 'body.id', to: 'headers.X-Id' },
          { op: 'rename', from: 'headers.X-T', to: 'body.t' },
        ]),
      ],
    )
    expect(textOf(result)).toBe('{"b":2,"t":"1, 2"}')
    expect(result.output?.headers).toEqual([
      ['Content-Type', 'application/json'],
      ['X-Id', '9007199254740993'],
    ])
  })

  test('between headers the bytes stay', () => {
    const bytes = Buffer.from('Zoë €').toString('latin1')
    expect(
      headersAfter([['X-A', bytes]], step('rename', { from: 'headers.X-A', to: 'headers.X-B' })),
    ).toEqual([['X-B', bytes]])
  })
})

describe('redact', () => {
  test('replaces what exists, of any type, and nothing else', () => {
    const steps = [
      {
        op: 'redact',
        paths: ['body.items[*].sku', 'body.z', 'body.none', 'headers.Authorization', 'headers.X-None'],
      },
    ]
    const result = runOn(
      {
        body: ORDER,
        headers: [
          ['Authorization', 'Bearer a'],
          ['authorization', 'b'],
        ],
      },
      [ruleOf(steps)],
    )
    expect(textOf(result)).toBe(
      '{"id":9007199254740993,"n":1.50,"items":[{"sku":"***","p":1},{"sku":"***","p":2},{"sku":"***"}],"to":{"name":"x","mail":"y"},"z":"***"}',
    )
    expect(result.output?.headers.slice(1)).toEqual([
      ['Authorization', '***'],
      ['authorization', '***'],
    ])
  })
})

describe('set and template', () => {
  test.each([
    ['body.b', { x: [1] }, '{"a":1,"b":{"x":[1]}}'],
    ['body.a', 2, '{"a":2}'],
    ['body.x.y.z', 1, '{"a":1,"x":{"y":{"z":1}}}'],
    ['body.l[0].n', 1, '{"a":1,"l":[{"n":1}]}'],
    ['body["odd name"]', 1, '{"a":1,"odd name":1}'],
    ['body.a.b', 1, 'fault: type'],
    ['body.l[1]', 1, 'fault: not_found_index'],
    ['body[0]', 1, 'fault: type'],
    ['headers.X', 'a\nb', 'fault: bad_header'],
  ])('%s = %j', (path, value, expected) => {
    expect(bodyAfter('{"a":1}', step('set', { path, value }))).toBe(expected)
  })

  test.each([
    ['body.l[2]', '{"l":[1,2,9]}'],
    ['body.l[-1]', '{"l":[1,9]}'],
    ['body.l[3]', 'fault: not_found_index'],
    ['body.l[-3]', 'fault: not_found_index'],
  ])('index %s', (path, expected) => {
    expect(bodyAfter('{"l":[1,2]}', step('set', { path, value: 9 }))).toBe(expected)
  })

  test('what changes nothing leaves the bytes alone', () => {
    expect(bodyAfter('{ "a" : 1 }', step('set', { path: 'body.a', value: 1 }))).toBe('{ "a" : 1 }')
  })

  test('a header takes the place of all lines of its name', () => {
    expect(
      headersAfter(
        [
          ['X-A', '1'],
          ['X-B', '2'],
          ['x-a', '3'],
        ],
        step('set', { path: 'headers.x-a', value: 'é' }),
      ),
    ).toEqual([
      ['X-A', 'é'],
      ['X-B', '2'],
    ])
  })

  test('templates are text, neither cut nor escaped', () => {
    const long = 'x"\n'.repeat(400)
    expect(
      bodyAfter(
        JSON.stringify({ long }),
        step('template', {
          path: 'body.t',
          template: '<{{body.long}}|{{body.none}}|{{action.name}}|{{request.id}}>',
        }),
      ),
    ).toBe(JSON.stringify({ long, t: `<${long}||Billing|90117>` }))
  })

  test('digits of a literal survive', () => {
    const raw =
      '{"version":1,"name":"x","steps":[{"op":"set","path":"body.b","value":[1.0,9007199254740993]}]}'
    expect(textOf(runOn({ body: '{"a":1}' }, [storedRule(raw)]))).toBe('{"a":1,"b":[1.0,9007199254740993]}')
  })
})

describe('bodies that are not JSON', () => {
  const form = 'application/x-www-form-urlencoded'
  const FORM = 'a=1&b=x+y&a=%32&c=%zz&d'

  test.each([
    [[{ op: 'remove', paths: ['body.b'] }], 'a=1&a=%32&c=%zz&d'],
    [[{ op: 'keep', paths: ['body.a[1]', 'body.c'] }], 'a=2&c=%zz'],
    [[{ op: 'set', path: 'body.e', value: 'ü &=' }], `${FORM}&e=%C3%BC+%26%3D`],
    [[{ op: 'set', path: 'body.b', value: 5 }], 'a=1&b=5&a=%32&c=%zz&d'],
    [[{ op: 'set', path: 'body.a', value: ['7', '8'] }], 'a=7&a=8&b=x+y&c=%zz&d'],
    [[{ op: 'rename', from: 'body.b', to: 'body.z' }], 'a=1&a=%32&c=%zz&d&z=x+y'],
    [[{ op: 'compute', path: 'body.n', fn: 'add', args: ['body.a[0]', 'body.a[1]'] }], `${FORM}&n=3`],
    [[{ op: 'set', path: 'body.e', value: { x: 1 } }], 'fault: type'],
    [[{ op: 'set', path: 'body.b.x', value: 1 }], 'fault: type'],
  ])('form: %j', (steps, expected) => {
    expect(bodyAfter(FORM, steps, form)).toBe(expected)
  })

  test.each([
    ['plain', 'text/plain'],
    ['{oops', 'application/json'],
    ['<a/>', 'application/xml'],
    ['['.repeat(300), 'application/json'],
  ])(
    '%s of %s faults when addressed; only rules that take something out are not blamed',
    (body, contentType) => {
      for (const steps of [
        [{ op: 'keep', paths: ['body.a'] }],
        [{ op: 'remove', paths: ['body.a'] }],
        [{ op: 'set', path: 'body.a', value: 1 }],
        [{ op: 'rename', from: 'body.a', to: 'headers.X' }],
      ]) {
        const result = runOn({ body, contentType }, [ruleOf(steps)])
        const counted = !steps.some(({ op }) => op === 'keep' || op === 'remove')
        expect(result.rules[0]?.fault).toMatchObject({ code: 'not_structured', counted, stepIndex: 0 })
        expect(result.output).toBeNull()
      }
      const result = runOn({ body, contentType }, [
        ruleOf([
          { op: 'set', path: 'headers.X', value: '1' },
          { op: 'compute', path: 'headers.Y', fn: 'concat', args: ['body.a'] },
        ]),
      ])
      expect(textOf(result)).toBe(body)
      expect(result.output?.headers.slice(1)).toEqual([
        ['X', '1'],
        ['Y', ''],
      ])
    },
  )

  test('empty bodies: taking away does nothing, adding faults', () => {
    for (const steps of [
      [{ op: 'keep', paths: ['body.a'] }],
      [{ op: 'remove', paths: ['body.a'] }],
      [{ op: 'redact', paths: ['body.a'] }],
      [{ op: 'rename', from: 'body.a', to: 'headers.X' }],
      [{ op: 'rename', from: 'headers.Content-Type', to: 'body.x' }],
    ]) {
      expect(bodyAfter('', steps)).toBe('')
    }
    for (const steps of [
      [{ op: 'set', path: 'body.a', value: 1 }],
      [{ op: 'template', path: 'body.a', template: 'x' }],
      [{ op: 'compute', path: 'body.a', fn: 'now', args: [] }],
    ]) {
      expect(runOn({ body: '' }, [ruleOf(steps)]).rules[0]?.fault).toMatchObject({
        code: 'not_structured',
        counted: true,
      })
    }
  })

  test('a body without content type that parses is JSON; a byte order mark is no part of it', () => {
    expect(bodyAfter('{"a":1}', [{ op: 'remove', paths: ['body.a'] }], null)).toBe('{}')
    expect(bodyAfter('\ufeff{"a":1}', [{ op: 'remove', paths: ['body.a'] }])).toBe('{}')
  })
})
