import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { captured, FACTS } from '../../../../../tests/support/ruleRuns.ts'
import { jsonBody } from '../../message/index.ts'
import { decodeStoreRule } from '../language/decode.ts'
import { type RunInput, runRules } from './run.ts'

/** Rules for storing change the value that a capture was parsed to, and leave one that its later readers need not parse. */

const name = fc.constantFrom('a', 'b', 'c', '1', '__proto__', 'x y')
const scalar = fc.constantFrom(
  '1',
  '1.0',
  '-0',
  '9007199254740993',
  '1e400',
  '"s"',
  '"\\u0040"',
  'null',
  'true',
)
const { value: json } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(', ')}]`),
    fc
      .array(fc.tuple(name, tie('value')), { maxLength: 5 })
      .map((members) => `{${members.map(([key, value]) => `${JSON.stringify(key)}: ${value}`).join(',')}}`),
  ),
}))
const path = fc
  .array(fc.constantFrom('["a"]', '["b"]', '["1"]', '[0]', '[-1]', '[*]'), { minLength: 1, maxLength: 3 })
  .map((segments) => `body${segments.join('')}`)
const step = fc.oneof(
  fc.record({
    op: fc.constantFrom('keep', 'remove', 'redact', 'hash'),
    paths: fc.array(path, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({
    op: fc.constant('set'),
    path: fc.constantFrom('body.a', 'body.b[0]', 'body.c.d'),
    value: fc.constantFrom<unknown>('x', 1.5, null, [1], { a: ['b'] }),
  }),
)

test('bytes, faults and what is parsed of them are as without sharing, and the body is not changed', () => {
  let changedCount = 0
  fc.assert(
    fc.property(json, fc.array(step, { minLength: 1, maxLength: 4 }), (body, steps) => {
      const decoded = decodeStoreRule({ steps })
      if (!('rule' in decoded)) return
      const rules = [{ key: '', rule: decoded.rule }]
      const runOn = (isForStoring: boolean) => {
        const request = captured({ body })
        const before = structuredClone(jsonBody(request))
        const result = runRules(rules, { ...INPUT, request, isForStoring })
        expect(jsonBody(request)).toEqual(before)
        return { request, ...result }
      }
      const { output, request, rules: reports } = runOn(true)
      const apart = runOn(false)
      expect(reports.map(({ fault }) => fault)).toEqual(apart.rules.map(({ fault }) => fault))
      if (output === null) return
      if (output.body !== request.body) changedCount += 1
      expect(jsonBody({ ...request, body: output.body })).toEqual(
        jsonBody(captured({ body: Buffer.from(output.body) })),
      )
      // For storing, a step that sets what is there already takes out earlier duplicates.
      if (steps.every(({ op }) => op !== 'set')) expect(String(output.body)).toBe(String(apart.output?.body))
    }),
    { numRuns: 3000 },
  )
  expect(changedCount).toBeGreaterThan(300)
})

const INPUT: Omit<RunInput, 'request'> = {
  facts: FACTS,
  now: new Date(0),
  secret: () => null,
  hash: (text) => `digest of ${text}`,
  stopwatch: { worked: () => 0 },
}
