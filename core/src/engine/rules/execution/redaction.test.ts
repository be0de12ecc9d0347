import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { ruleOf, runOn } from '../../../../../tests/support/ruleRuns.ts'

/** Content types of JSON bodies from senders. */
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

/** Types of bodies into which no path leads. A rule that removes data from one faults, and nothing is sent. */
const OPAQUE_TYPES = [
  'multipart/form-data; boundary=x',
  'multipart/form-data',
  'application/xml',
  'image/png',
  'application/jsonlines',
]

const SECRET = 'ada-5f0c2e'
/** The secret with every character escaped, as a sender may write it in JSON. */
const ESCAPED = [...SECRET].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')

const step = fc.oneof(fc.integer({ min: 0, max: 2 }), fc.string({ unit: 'grapheme', maxLength: 3 }))
const where = fc.array(step, { minLength: 0, maxLength: 4 })

/**
 * JSON that holds the secret at a path, among other values. `twice`: every name on the way is duplicated; the last
 * counts.
 */
function hiddenJson(
  path: readonly (string | number)[],
  options: { noise: unknown; escaped: boolean; twice: boolean },
): string {
  const [first, ...rest] = path
  if (first === undefined) return `"${options.escaped ? ESCAPED : SECRET}"`
  const inner = hiddenJson(rest, options)
  const noise = JSON.stringify(options.noise)
  if (typeof first === 'number') return `[${`${noise},`.repeat(first)}${inner},${noise}]`
  const member = `${JSON.stringify(first)}:${inner}`
  return `{"noise":${noise},${options.twice ? `${member},` : ''}${member},"more":[${noise}]}`
}

function expectNoSecret(body: Uint8Array | undefined): string {
  const text = Buffer.from(body ?? '').toString()
  expect(text).not.toContain(SECRET)
  expect(text.toLowerCase()).not.toContain(ESCAPED.toLowerCase())
  // Byte by byte: other escapes of the text need not be UTF-8.
  const unescaped = text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(parseInt(hex, 16)))
  expect(unescaped).not.toContain(SECRET)
  return text
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
    blanks: fc.constantFrom('', ' ', '\n\t'),
    mark: fc.boolean(),
    dotted: fc.boolean(),
    twice: fc.boolean(),
    escaped: fc.boolean(),
    nested: fc.boolean(),
    op: fc.constantFrom('redact', 'remove', 'keep'),
  })

  test('redact, remove and keep leave no byte of what they take out', () => {
    fc.assert(
      fc.property(sent, ({ path, noise, contentType, blanks, mark, dotted, twice, escaped, nested, op }) => {
        const secret = hiddenJson(path, { noise, escaped, twice: nested })
        // The last of two equal names counts, and the first must not slip through.
        const names = twice ? [`"secret":${secret},`, `${blanks}"secret":"***"`] : ['', `"secret":${secret}`]
        const body = `${mark ? '\ufeff' : ''}${blanks}{"kept":${JSON.stringify(noise)},${blanks}${names.join('')}}${blanks}`
        const paths = [op === 'keep' ? 'body.kept' : pathText(path, dotted)]
        const { output, rules } = runOn({ body, contentType }, [ruleOf([{ op, paths }])])
        expect(rules[0]?.fault).toBeNull()
        const text = expectNoSecret(output?.body)
        expect(JSON.parse(text).kept).toEqual(JSON.parse(JSON.stringify(noise)))
      }),
      { numRuns: 300 },
    )
  })

  test('what no path leads into is not sent at all', () => {
    fc.assert(
      fc.property(sent, fc.constantFrom(...OPAQUE_TYPES), ({ path, noise, op }, contentType) => {
        const body = `{"kept":1,"secret":${hiddenJson(path, { noise, escaped: false, twice: false })}}`
        const paths = [op === 'keep' ? 'body.kept' : pathText(path, false)]
        const { output, rules } = runOn({ body, contentType }, [ruleOf([{ op, paths }])])
        expect([output, rules[0]?.fault?.code]).toEqual([null, 'not_structured'])
      }),
      { numRuns: 100 },
    )
    const rules = [ruleOf([{ op: 'redact', paths: ['body.email'] }])]
    const part = `--x\r\nContent-Disposition: form-data; name="email"\r\n\r\n${SECRET}\r\n--x--\r\n`
    for (const [body, contentType] of [
      [part, 'multipart/form-data; boundary=x'],
      [`email: ${SECRET}`, 'text/plain'],
      [`email=${SECRET}`, null],
    ] as const) {
      expect(runOn({ body, contentType }, rules).output).toBeNull()
    }
  })

  const word = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 4 }).filter((name) => name !== 'kept')
  const form = fc.record({
    name: word,
    others: fc.array(fc.tuple(word, fc.string({ unit: 'grapheme', maxLength: 5 })), { maxLength: 4 }),
    times: fc.integer({ min: 1, max: 3 }),
    encoded: fc.boolean(),
    op: fc.constantFrom('redact', 'remove', 'keep'),
  })

  test('of a form they leave none either, however often a field stands there and however it is escaped', () => {
    fc.assert(
      fc.property(form, ({ name, others, times, encoded, op }) => {
        const encode = (text: string) =>
          encoded
            ? [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
            : encodeURIComponent(text.toWellFormed())
        const pairs = [
          ...others.filter(([other]) => other !== name),
          ...Array.from({ length: times }, () => [name, SECRET] as const),
          ['kept', 'yes'] as const,
        ]
        const body = pairs.map(([field, value]) => `${encode(field)}=${encode(value)}`).join('&')
        const paths = [op === 'keep' ? 'body.kept' : `body[${JSON.stringify(name)}]`]
        const { output, rules } = runOn({ body, contentType: 'application/x-www-form-urlencoded' }, [
          ruleOf([{ op, paths }]),
        ])
        expect(rules[0]?.fault).toBeNull()
        expect(expectNoSecret(output?.body)).toMatch(/(^|&)(kept|%6b%65%70%74)=(yes|%79%65%73)(&|$)/)
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
