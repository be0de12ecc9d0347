import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { ruleOf, runOn, textOf } from '../../../../../tests/support/ruleRuns.ts'

const name = fc.constantFrom('a', 'b', 'c')
const segment = fc.oneof(
  { weight: 4, arbitrary: name.map((member) => `.${member}`) },
  { weight: 1, arbitrary: fc.constantFrom('[0]', '[1]', '[-1]') },
)
const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => `body.a${segments.join('')}`)
const paths = fc.array(
  fc.oneof(
    path,
    path.map((each) => each.replace(/\[.*?\]/, '[*]')),
    fc.constantFrom('body.a', 'body.n', 'body.b[*]'),
  ),
  { minLength: 1, maxLength: 3 },
)

const step = fc.oneof(
  paths.map((each) => ({ op: 'keep', paths: each })),
  paths.map((each) => ({ op: 'remove', paths: each })),
  paths.map((each) => ({ op: 'redact', paths: each })),
  fc.tuple(path, path).map(([from, to]) => ({ op: 'rename', from, to })),
  path.map((each) => ({ op: 'rename', from: each, to: 'headers.X' })),
  path.map((each) => ({ op: 'set', path: each, value: { a: [{ b: 1 }], c: null } })),
  fc
    .tuple(path, path)
    .map(([to, from]) => ({ op: 'template', path: to, template: `{{${from}}} {{body.b}}` })),
  fc
    .tuple(path, path, fc.constantFrom('coalesce', 'toJson', 'length', 'count', 'first', 'last'))
    .map(([to, from, fn]) => ({ op: 'compute', path: to, fn, args: [from] })),
  fc
    .tuple(path, path, name)
    .map(([to, from, literal]) => ({ op: 'compute', path: to, fn: 'get', args: [from, { literal }] })),
)

const { body } = fc.letrec<{ body: unknown }>((tie) => ({
  body: fc.oneof(
    { depthSize: 'medium' },
    fc.constantFrom(null, true, 7, 'text', [], {}),
    fc.dictionary(name, tie('body'), { noNullPrototype: true }),
    fc.array(tie('body'), { maxLength: 3 }),
  ),
}))

describe('a body whose objects are opened only where paths lead', () => {
  test('comes out as one that was read into maps at once', () => {
    fc.assert(
      fc.property(body, body, fc.array(step, { minLength: 1, maxLength: 6 }), (a, b, steps) => {
        const rules = [ruleOf(steps)]
        // A zero at the end of a fraction needs the reader by hand, which makes maps of all objects.
        const [lazily, byHand] = [1.5, '1.50'].map((n) => {
          const result = runOn(
            { body: `{"a":${JSON.stringify(a)},"b":${JSON.stringify(b)},"n":${n}}` },
            rules,
          )
          const headers = result.output?.headers.map(([header, value]) => `${header}: ${value}`)
          return JSON.stringify([textOf(result), headers, result.rules]).replaceAll('1.50', '1.5')
        })
        expect(lazily).toBe(String(byHand))
      }),
      { numRuns: 100 },
    )
  })
})
