import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { MASKED, masked } from './masked.ts'

function maskedBody(body: string): unknown {
  const steps = masked({ body })
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return Object(value).body
  }
}

test('a value that is cut is masked to its end, whatever brackets stand in it', () => {
  expect(maskedBody('{"a":1,"secret":{"x":"}","y":["opens')).toBe('{"a":1,"secret":"***"')
  expect(maskedBody('{"secret":["]","opens"],"b":"shown"}')).toBe('{"secret":"***","b":"shown"}')
  expect(maskedBody('{"text":"\\"token\\": \\"shown\\"","token":12}')).toBe(
    '{"text":"\\"token\\": \\"shown\\"","token":"***"}',
  )
})

test('what is no JSON is masked as well: stray quotation marks, forms, JSON within forms', () => {
  expect(maskedBody('5" pipe {"token" : "opens"}')).toBe('5" pipe {"token" : "***"}')
  expect(maskedBody('a=1&user%5Bpassword%5D=opens&b=2')).toBe('a=1&user%5Bpassword%5D=***&b=2')
  expect(maskedBody('x={"token":"opens"}&secret={"a":"opens"}&b=2')).toBe('x={"token":"***"}&secret=***&b=2')
  expect(maskedBody('user[name]=Ada&user[password]=opens&b=2')).toBe('user[name]=Ada&user[password]=***&b=2')
  expect(maskedBody('\r\npassword=opens')).toBe('\r\npassword=***')
  expect(maskedBody('[user][name]=Ada&token=opens')).toBe('[user][name]=Ada&token=***')
  expect(maskedBody('[["a=b&token=shown"]]')).toBe('[["a=b&token=shown"]]')
  expect(maskedBody('"token":true,"token":-1.5e3,"token":null')).toBe(
    '"token":true,"token":"***","token":null',
  )
})

test('credentials in the query of a URL are masked, under each name of such a member', async () => {
  const url = 'https://a.example/x?token=opens&a=1'
  const shown = 'https://a.example/x?token=***&a=1'
  expect(await MASKED.value({ url, forwardUrl: url })).toEqual({ url: shown, forwardUrl: shown })
})

test('a member whose name is spelled with escapes is masked', () => {
  expect(maskedBody('{"pass\\u0077ord":"opens","a":1}')).toBe('{"pass\\u0077ord":"***","a":1}')
  expect(maskedBody('{"a\\u0062":"shown"}')).toBe('{"a\\u0062":"shown"}')
})

const multipart = (name: string, value: string, more = '', line = '\r\n') =>
  ['--B=x', `Content-Disposition: form-data; name="${name}"${more}`, '', value, '--B=x', ''].join(line)

test('fields of a multipart body are masked by their names, up to the delimiter behind them', () => {
  const head = 'Content-Disposition: form-data; name='
  for (const line of ['\r\n', '\n'])
    expect(maskedBody(`${multipart('a', 'shown', '', line)}${multipart('api_key', 'opens', '', line)}`)).toBe(
      ['--B=x', `${head}"a"`, '', 'shown', '--B=x', '--B=x', `${head}"api_key"`, '', '***', ''].join(line),
    )
  expect(maskedBody(multipart('token', '{"a":"opens"}', '; filename="a"'))).not.toContain('opens')
  const padded = maskedBody(`--B \t\r\n${head}"a"\r\n\r\n1\r\n--B\r\n${head}"token"\r\n\r\nopens\r\n--B--`)
  expect(padded).not.toContain('opens')
  expect(maskedBody('--a=1&token=opens\n')).toBe('--a=1&token=***')
  expect(maskedBody('--B\r\nContent-Type: text/plain\r\n\r\nname="token"; shown')).toContain('shown')
})

describe('a property:', () => {
  const secret = fc.stringMatching(/^Zopens[\\"&={}[\]:, a-z€]{0,12}$/)
  const shown = fc.stringMatching(/^[\\"&={}[\]:, a-z€]{0,12}$/)
  const name = fc.constantFrom('a', 'token', 'client_secret', 'user[password]', 'ü', '"', '')
  const { value: json } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      shown,
      fc.integer(),
      fc.constantFrom(true, null),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(name, tie('value'), { maxKeys: 4 }),
    ),
  }))
  const space = fc.constantFrom(0, 1)
  const jsonText = fc.tuple(json, space).map(([value, indent]) => JSON.stringify(value, null, indent))
  const form = fc
    .array(fc.tuple(name, fc.oneof(shown, jsonText)), { minLength: 1, maxLength: 4 })
    .map((pairs) => pairs.map(([key, value]) => `${key}=${value}`).join('&'))
  // Fragments of JSON and of forms, in any order: neither parses, and quotation marks do not match.
  const piece = fc.constantFrom(
    '"',
    '\\',
    '"token"',
    ':',
    '{',
    '}',
    '[',
    ']',
    '&',
    'token=',
    '?',
    ' ',
    '-1',
    'x',
    '€',
  )
  const anything = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''))
  const parts = fc
    .array(fc.tuple(name, fc.oneof(shown, jsonText)), { minLength: 1, maxLength: 3 })
    .map((fields) => fields.map(([key, value]) => multipart(key, value)).join(''))
  const body = fc.oneof(jsonText, form, parts, anything)

  test('parts of a body, masked each for itself, make up the masked body', () =>
    fc.assert(
      fc.asyncProperty(body, fc.array(fc.nat(80), { maxLength: 5 }), async (text, cuts) => {
        const bytes = Buffer.from(text)
        const ends = [...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length]
        let from = 0
        let parts = ''
        for (const end of ends) {
          parts += await MASKED.part(bytes.toString('latin1', 0, end), from)
          from = end
        }
        expect(Buffer.from(parts, 'latin1').toString()).toBe(String(maskedBody(text)))
      }),
      { numRuns: 3000 },
    ))

  test('no part shows anything of the value of a credential, wherever it is cut', () =>
    fc.assert(
      fc.asyncProperty(
        secret,
        json,
        fc.constantFrom('text', 'list', 'object', 'form', 'multipart'),
        fc.constantFrom('a', 'user[name]', 'first name', 'a{b}', 'a<b', '\r\na', ' a'),
        async (value, other, kind, first) => {
          const inside = kind === 'list' ? [value] : kind === 'object' ? { a: [value] } : value
          const text =
            kind === 'multipart'
              ? multipart('token', value)
              : kind === 'form'
                ? `${first}=1&token=${encodeURIComponent(value)}&b=2`
                : JSON.stringify({ a: other, token: inside, b: 2 })
          const bytes = Buffer.from(text)
          for (let end = 0; end <= bytes.length; end += 1) {
            const part = await MASKED.part(bytes.toString('latin1', 0, end), 0)
            expect(part).not.toContain('Z')
          }
        },
      ),
      { numRuns: 300 },
    ))

  test('of JSON nothing else changes', () =>
    fc.assert(
      fc.property(json, (value) => {
        const hidden = (inner: unknown): unknown => {
          if (Array.isArray(inner)) return inner.map(hidden)
          if (typeof inner !== 'object' || inner === null) return inner
          return Object.fromEntries(
            Object.entries(inner).map(([member, one]) => {
              const isSecret = /token|secret|password/.test(member) && one !== null && one !== true
              return [member, isSecret ? '***' : hidden(one)]
            }),
          )
        }
        const wrapped = { first: value }
        expect(JSON.parse(String(maskedBody(JSON.stringify(wrapped))))).toEqual(hidden(wrapped))
      }),
      { numRuns: 2000 },
    ))
})

test.each([
  ['escapes without an end', (count: number) => `"${'\\"'.repeat(count * 4)}`],
  ['quotation marks', (count: number) => '"'.repeat(count * 8)],
  ['backslashes', (count: number) => `"${'\\'.repeat(count * 8)}`],
  ['names without a value', (count: number) => '"a":'.repeat(count * 2)],
  ['names far from their colon', (count: number) => `"a"${' '.repeat(100)}`.repeat(Math.ceil(count / 12))],
  ['brackets', (count: number) => `{"token":${'['.repeat(count * 8)}`],
  ['credentials', (count: number) => '"token":1,'.repeat(count)],
  ['pairs', (count: number) => `a=&${'a&'.repeat(count * 4)}`],
  [
    'parts',
    (count: number) => `--B\n${'\n--B\nContent-Disposition: form-data; name=token\n'.repeat(count / 12)}`,
  ],
  ['parts without a head', (count: number) => `--B\n${'\n--B'.repeat(count / 2)}`],
  ['names of pairs', (count: number) => `a=&${'a?'.repeat(count * 4)}`],
  ['a name of a pair', (count: number) => `${'a'.repeat(count * 8)}=1`],
])('%s cost no more than their length, in short steps', (what, bodyOf) => {
  const body = bodyOf(250_000)
  const before = process.cpuUsage()
  const steps = masked({ body })
  let count = 1
  while (steps.next().done !== true) count += 1
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(1000)
  // Nothing is searched within these, so they take few steps.
  if (what !== 'a name of a pair' && what !== 'backslashes') expect(count).toBeGreaterThan(10)
})
