import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { ruleOf, runOn } from '../../../../../tests/support/ruleRuns.ts'

/** What senders call a JSON body. */
const CONTENT_TYPES = [
  null,
  'application/json',
  'Application/JSON; charset=utf-8',
  'text/json',
  'application/x-json',
  'application/vnd.acme+json',
  'application/x-www-form-urlencoded',
  'application/x-www-form-urlencoded; charset=utf-8',
  'text/plain',
  'TEXT/HTML',
  'application/octet-stream',
]

const SECRET = 'ada@example.test'

const step = fc.oneof(fc.integer({ min: 0, max: 2 }), fc.string({ unit: 'grapheme', maxLength: 3 }))
const where = fc.array(step, { minLength: 0, maxLength: 4 })

/** A document that holds the secret at a path, among other values. */
function hidden(path: readonly (string | number)[], noise: unknown): unknown {
  const [first, ...rest] = path
  if (first === undefined) return SECRET
  const inner = hidden(rest, noise)
  if (typeof first === 'string') return { noise, ...Object.fromEntries([[first, inner]]), more: [noise] }
  return [...Array.from({ length: first }, () => noise), inner, noise]
}

function pathText(path: readonly (string | number)[], dotted: boolean): string {
  const segment = (part: string | number) => {
    if (typeof part === 'string') return `[${JSON.stringify(part)}]`
    return dotted ? `.${part}` : `[${part}]`
  }
  return `body.secret${path.map(segment).join('')}`
}

describe('whatever the sender calls a JSON body', () => {
  const sent = fc.record({
    path: where,
    noise: fc.jsonValue({ maxDepth: 2 }),
    contentType: fc.constantFrom(...CONTENT_TYPES),
    blanks: fc.constantFrom(undefined, 1, '\t'),
    mark: fc.boolean(),
    dotted: fc.boolean(),
    twice: fc.boolean(),
    op: fc.constantFrom('redact', 'remove', 'keep'),
  })

  test('redact, remove and keep leave no byte of what they take out', () => {
    fc.assert(
      fc.property(sent, ({ path, noise, contentType, blanks, mark, dotted, twice, op }) => {
        const secret = JSON.stringify(hidden(path, noise), null, blanks)
        // Of a name that stands twice the last counts, and the first must not slip through.
        const names = twice ? [`"secret":${secret},`, `"secret":"***"`] : ['', `"secret":${secret}`]
        const body = `${mark ? '\ufeff' : ''} {"kept":${JSON.stringify(noise)},${names.join('')}}`
        const paths = [op === 'keep' ? 'body.kept' : pathText(path, dotted)]
        const { output, rules } = runOn({ body, contentType }, [ruleOf([{ op, paths }])])
        expect(rules[0]?.fault).toBeNull()
        const text = Buffer.from(output?.body ?? '').toString()
        expect(text).not.toContain(SECRET)
        expect(JSON.parse(text).kept).toEqual(JSON.parse(JSON.stringify(noise)))
      }),
      { numRuns: 300 },
    )
  })

  test('a form stays a form, and what is neither is not sent', () => {
    const redact = [ruleOf([{ op: 'redact', paths: ['body.email'] }])]
    const form = 'application/x-www-form-urlencoded'
    const after = runOn({ body: `email=${SECRET}&a=1`, contentType: form }, redact)
    expect(Buffer.from(after.output?.body ?? '').toString()).toBe('email=***&a=1')
    const deep = `{"email":"${SECRET}","deep":${'['.repeat(300)}${']'.repeat(300)}}`
    for (const contentType of CONTENT_TYPES)
      expect(runOn({ body: deep, contentType }, redact).rules[0]?.fault?.code).toBe('not_structured')
  })
})
