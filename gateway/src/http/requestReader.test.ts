import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isRefusal } from './requestHead.ts'
import { RequestReader } from './requestReader.ts'

const LIMITS = { headBytesMax: 2000, fieldsMax: 20 }

/** Everything that the reader returns for these pieces. */
function read(pieces: readonly Buffer[]): unknown[] {
  const reader = new RequestReader(LIMITS)
  const seen: unknown[] = []
  let body: string | undefined
  for (const piece of pieces) {
    let at = 0
    while (at < piece.length) {
      const step = body === undefined ? reader.readHead(piece, at) : reader.readBody(piece, at)
      if (step === undefined) break
      if (isRefusal(step)) {
        // The position of the error is not visible to the client.
        seen.push(body === undefined ? step.status : 'bad body')
        return seen
      }
      at = reader.position
      if (Buffer.isBuffer(step)) body = `${body}${step.toString('latin1')}`
      else {
        seen.push(step)
        body = ''
      }
      if (!reader.bodyEnded) continue
      seen.push(body, reader.trailers)
      body = undefined
    }
  }
  reader.free()
  return seen
}

const bytesOf = (text: string) => Buffer.from(text, 'latin1')

const post = (rest: string) => `POST /hook/t HTTP/1.1\r\nHost: h\r\n${rest}`

/** The requests of the framing suites, and more. */
const REQUESTS: Readonly<Record<string, string>> = {
  'a capture': post('Content-Type: application/json\r\nContent-Length: 7\r\n\r\n{"a":1}'),
  'no body': 'GET /hook/t?x=%zz&y HTTP/1.1\r\nHost: h\r\n\r\n',
  'odd fields':
    'GET / HTTP/1.1\r\nhOsT:h\r\nX-Empty:\r\nX-Blank:   \r\nX: \t a b \t\r\nX: \xe9\xff\r\n__proto__: 1\r\n\r\n',
  'an odd target': 'GET /a/../%2e//b%41;c?x#f"<>{}|\\^`\xc3\xa9\xff HTTP/1.1\r\nHost: h\r\n\r\n',
  'an absolute target': 'GET http://h/hook/t HTTP/1.1\r\nHost: h\r\n\r\n',
  'a method that nobody knows': 'FETCH-ALL! /hook/t HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi',
  'chunks with trailers':
    'POST /hook/t HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n5;ext=1\r\n"a":1\r\n1\r\n}\r\n0\r\nX-T: 1 \r\nX-U:\r\n\r\n',
  'HTTP/1.0': 'POST /hook/t HTTP/1.0\r\nContent-Length: 2\r\n\r\nhi',
  'an upgrade that nobody asked for': post(
    'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\nhi',
  ),
  'pipelined requests': `\r\n${post('Content-Length: 2\r\n\r\nhi')}\r\n${post('Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n')}GET / HTTP/1.1\r\n\r\n`,
  'a close, and what follows it': `${post('Connection: close\r\n\r\n')}GET / HTTP/1.1\r\n\r\n`,
}

const REFUSED: Readonly<Record<string, [status: number | 'bad body', request: string]>> = {
  'no HTTP': [400, 'GARBAGE\r\n\r\n'],
  TLS: [400, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  'no version': [400, 'GET /\r\n\r\n'],
  'HTTP/2': [505, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  'HTTP/0.9': [505, 'GET / HTTP/0.9\r\n\r\n'],
  'bare line feeds': [400, 'GET / HTTP/1.1\nHost: h\n\n'],
  'a blank in the target': [400, 'GET /a b HTTP/1.1\r\n\r\n'],
  'a control character in the target': [400, 'GET /a\x01b HTTP/1.1\r\n\r\n'],
  'a control character in a value': [400, 'GET / HTTP/1.1\r\nX: a\x00b\r\n\r\n'],
  'two hosts': [400, 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
  'two lengths': [400, post('Content-Length: 2\r\nContent-Length: 3\r\n\r\nabc')],
  'the same length twice': [400, post('Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc')],
  'a list of lengths': [400, post('Content-Length: 3, 3\r\n\r\nabc')],
  'a length with a sign': [400, post('Content-Length: +3\r\n\r\nabc')],
  'an empty length': [400, post('Content-Length:\r\n\r\n')],
  'a length beyond numbers': [400, post('Content-Length: 9999999999999999\r\n\r\n')],
  'length and chunks': [400, post('Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n')],
  'chunks and length': [400, post('Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n')],
  'an unknown coding': [400, post('Transfer-Encoding: chunked, cow\r\n\r\n0\r\n\r\n')],
  'a coding below chunks': [400, post('Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n')],
  'two codings': [400, post('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n')],
  'chunks in HTTP/1.0': [400, 'POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  'a chunk size that is no number': [
    'bad body',
    post('Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n'),
  ],
  'a chunk longer than it says': [
    'bad body',
    post('Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n'),
  ],
  'a folded field': [400, post('X-A: 1\r\n folded\r\n\r\n')],
  'a blank before the colon': [400, post('Content-Length : 0\r\n\r\n')],
  'a name with a newline': [400, post('X\nA: 1\r\n\r\n')],
  'no colon': [400, post('X-A\r\n\r\n')],
  'a long target': [431, `GET /${'a'.repeat(2000)} HTTP/1.1\r\n\r\n`],
  'a long value': [431, post(`X: ${'a'.repeat(2000)}\r\n\r\n`)],
  'many fields': [431, post(`${'X: 1\r\n'.repeat(20)}\r\n`)],
  'long trailers': [
    'bad body',
    post(`Transfer-Encoding: chunked\r\n\r\n0\r\nX: ${'a'.repeat(2001)}\r\n\r\n`),
  ],
}

/** Splits in two at every byte, and into single bytes. */
function* cutsOf(bytes: Buffer): Generator<Buffer[]> {
  for (let at = 1; at < bytes.length; at += 1) yield [bytes.subarray(0, at), bytes.subarray(at)]
  yield Array.from(bytes, (byte) => Buffer.of(byte))
}

describe('wherever a request is cut, the same is read', () => {
  test.each(Object.entries(REQUESTS))('%s', (_, request) => {
    const bytes = bytesOf(request)
    const whole = read([bytes])
    expect(whole).toMatchSnapshot()
    for (const pieces of cutsOf(bytes)) expect(read(pieces)).toEqual(whole)
  })

  test('any requests behind each other, in any pieces', () => {
    const inputs = fc.tuple(
      fc.array(fc.constantFrom(...Object.values(REQUESTS)), { minLength: 1, maxLength: 4 }),
      fc.array(fc.nat({ max: 1500 }), { maxLength: 8 }),
    )
    fc.assert(
      fc.property(inputs, ([requests, cuts]) => {
        const bytes = bytesOf(requests.join(''))
        const sorted = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)), bytes.length].sort(
          (a, b) => a - b,
        )
        const pieces = sorted.slice(1).map((end, index) => bytes.subarray(sorted[index], end))
        expect(read(pieces)).toEqual(read([bytes]))
      }),
      { numRuns: 300 },
    )
  })
})

describe('refused, wherever it is cut', () => {
  test.each(Object.entries(REFUSED))('%s', (_, [status, request]) => {
    const bytes = bytesOf(request)
    expect(read([bytes]).at(-1)).toBe(status)
    for (const pieces of cutsOf(bytes)) expect(read(pieces).at(-1)).toBe(status)
  })
})

test('a body of small chunks takes no more memory than its bytes', () => {
  const reader = new RequestReader(LIMITS)
  const head = bytesOf(post('Transfer-Encoding: chunked\r\n\r\n'))
  reader.readHead(head, 0)
  const chunks = bytesOf('1\r\nx\r\n'.repeat(5000))
  const payload = reader.readBody(chunks, 0)
  expect(Buffer.isBuffer(payload) && payload.length).toBe(5000)
  reader.free()
})

test('framing that only pretends to be a body is refused', () => {
  const reader = new RequestReader(LIMITS)
  reader.readHead(bytesOf(post('Transfer-Encoding: chunked\r\n\r\n')), 0)
  const extension = bytesOf(`1;${'x'.repeat(100_000)}`)
  const first = reader.readBody(extension, 0)
  expect([first, reader.readBody(extension, reader.position)]).toContainEqual({
    status: 400,
    reason: 'more framing than body',
  })
  reader.free()
})
