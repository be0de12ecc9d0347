import { beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import examples from '@octokit/webhooks-examples'
import { z } from 'zod'
import type { Client, RequestBody, TestEndpoint } from '../support/client.ts'
import { sendRaw } from '../support/rawSender.ts'
import { startService, type TestService } from '../support/service.ts'

const Detail = z.looseObject({
  id: z.int(),
  method: z.string(),
  path: z.string(),
  url: z.string(),
  queryString: z.string().nullable(),
  query: z.record(z.string(), z.array(z.string())),
  headers: z.record(z.string(), z.string()),
  rawHeaders: z.array(z.object({ name: z.string(), value: z.string() })),
  contentType: z.string().nullable(),
  userAgent: z.string().nullable(),
  label: z.string().nullable(),
  sizeBytes: z.int(),
  body: z.string().nullable(),
  bodyIsBinary: z.boolean(),
  bodyTruncated: z.boolean(),
  bodyPreview: z.string().nullable(),
})

let service: TestService
let alice: Client
let endpoint: TestEndpoint

beforeAll(async () => {
  service = await startService({ parts: ['gateway'], limits: { captureRatePerMinute: 1_000_000 } })
  alice = service.alice
  endpoint = await alice.endpoint()
})

async function newest(of: TestEndpoint = endpoint) {
  const [row] = await of.requests('pageSize=1')
  if (row === undefined) throw new Error('Nothing was stored.')
  return await alice.expect(alice.get(of.at(`/requests/${row.id}`)), Detail)
}

const bytesOf = ({ body, bodyIsBinary }: { body: string | null; bodyIsBinary: boolean }) =>
  Buffer.from(body ?? '', bodyIsBinary ? 'base64' : 'utf8')

/** Sends a body and reads it back. */
async function roundTrip(body: RequestBody, contentType: string) {
  const answer = await endpoint.send({ body, headers: { 'Content-Type': contentType } })
  expect(answer.status).toBe(200)
  return await newest()
}

describe('bodies come back byte for byte', () => {
  test("GitHub's published webhook payloads", async () => {
    const github = await alice.endpoint({ provider: 'github' })
    const sent = examples.flatMap(({ name, examples: payloads }) =>
      payloads.map((payload, index) => ({ name, body: JSON.stringify(payload, null, index % 3) })),
    )
    for (const { name, body } of sent) {
      const answer = await github.send({ body, headers: { 'X-GitHub-Event': name } })
      expect(answer.status).toBe(200)
    }
    expect(sent.length).toBeGreaterThan(100)

    const ids: number[] = []
    while (ids.length < sent.length) {
      const rows = await github.requests(`pageSize=100&page=${ids.length / 100 + 1}`)
      ids.push(...rows.map(({ id }) => id))
    }
    const stored: z.infer<typeof Detail>[] = []
    // One after the other: on a busy machine, hundreds at once wait for longer than the reads of a workspace may.
    for (const id of ids.reverse())
      stored.push(await alice.expect(alice.get(github.at(`/requests/${id}`)), Detail))
    expect(stored.map(({ label, body }) => ({ name: label, body }))).toEqual(sent)
    expect(stored.map(({ sizeBytes }) => sizeBytes)).toEqual(sent.map(({ body }) => Buffer.byteLength(body)))
  })

  test('every byte there is', async () => {
    const body = Uint8Array.from({ length: 256 }, (_, byte) => byte)
    const stored = await roundTrip(body, 'application/octet-stream')
    expect(stored).toMatchObject({ bodyIsBinary: true, sizeBytes: 256, bodyPreview: null, label: null })
    expect(bytesOf(stored)).toEqual(Buffer.from(body))
  })

  test('invalid UTF-8 that says it is JSON', async () => {
    const body = Uint8Array.of(0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d)
    const stored = await roundTrip(body, 'application/json')
    expect(stored.bodyIsBinary).toBe(true)
    expect(bytesOf(stored)).toEqual(Buffer.from(body))
  })

  test('text with a NUL is binary; text beyond ASCII, with a byte order mark, is not', async () => {
    const withNul = await roundTrip('a\0b', 'text/plain')
    expect(withNul).toMatchObject({ bodyIsBinary: true, body: Buffer.from('a\0b').toString('base64') })
    const text = '\ufeffZoë schreibt: „ⓧ“ 🎣\r\n'
    expect(await roundTrip(text, 'text/plain')).toMatchObject({ bodyIsBinary: false, body: text })
  })

  test('an event type that Postgres cannot hold as text is no label, and costs the capture nothing', async () => {
    const stored = await roundTrip('{"type":"a\\u0000b\\ud800"}', 'application/json')
    expect(stored).toMatchObject({ body: '{"type":"a\\u0000b\\ud800"}', label: null })
  })

  test('forms', async () => {
    const body = 'a=1&b=%C3%A9&b=+&=&empty=&%zz'
    expect(await roundTrip(body, 'application/x-www-form-urlencoded')).toMatchObject({ body })
  })

  test('multipart with a file', async () => {
    const file = randomBytes(3000)
    const body = Buffer.concat([
      Buffer.from('--b\r\nContent-Disposition: form-data; name="f"; filename="x"\r\n\r\n'),
      file,
      Buffer.from('\r\n--b--\r\n'),
    ])
    const stored = await roundTrip(new Uint8Array(body), 'multipart/form-data; boundary=b')
    expect(stored.contentType).toBe('multipart/form-data; boundary=b')
    expect(bytesOf(stored)).toEqual(body)
  })

  test('an empty body', async () => {
    expect(await roundTrip('', 'text/plain')).toMatchObject({
      body: null,
      bodyPreview: null,
      bodyIsBinary: false,
      sizeBytes: 0,
    })
  })

  test('ten megabytes, exactly at the cap', async () => {
    const body = new Uint8Array(randomBytes(10_485_760))
    const stored = await roundTrip(body, 'application/octet-stream')
    expect(stored).toMatchObject({ sizeBytes: 10_485_760, bodyTruncated: false })
    expect(Bun.hash(bytesOf(stored))).toBe(Bun.hash(body))
  })

  test('a chunked body, whatever its chunks', async () => {
    const answer = await sendRaw(
      endpoint.url,
      `POST /hook/${endpoint.id} HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n`,
      '1\r\n{\r\n5;ext=1\r\n"a":1\r\n',
      '1\r\n}\r\n0\r\n\r\n',
    )
    expect(answer.status).toBe(200)
    expect(await newest()).toMatchObject({ body: '{"a":1}', sizeBytes: 7 })
  })

  test('the body of a GET, and of a method of its own', async () => {
    for (const method of ['GET', 'DELETE', 'PROPFIND']) {
      await sendRaw(
        endpoint.url,
        `${method} /hook/${endpoint.id} HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody`,
      )
      expect(await newest()).toMatchObject({ method, body: 'body' })
    }
  })

  test('a body whose sender asks to continue first', async () => {
    const answer = await sendRaw(
      endpoint.url,
      `POST /hook/${endpoint.id} HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody`,
    )
    expect(answer.status).toBe(100)
    expect(answer.body).toContain('HTTP/1.1 200 ')
    expect(await newest()).toMatchObject({ body: 'body' })
  })

  test('requests that are sent without waiting for answers are each stored, in order, and each answered', async () => {
    const one = (n: number, connection: string) =>
      `POST /hook/${endpoint.id}?n=${n} HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nConnection: ${connection}\r\n\r\n#${n}`
    const sent = [1, 2, 3, 4, 5].map((n) => one(n, n === 5 ? 'close' : 'keep-alive')).join('')
    const answer = await sendRaw(endpoint.url, sent)
    expect(answer.status).toBe(200)
    expect(answer.body.match(/HTTP\/1\.1 200 /g)).toHaveLength(4)
    const rows = await endpoint.requests('pageSize=5')
    expect(rows.map(({ bodyPreview }) => bodyPreview)).toEqual(['#5', '#4', '#3', '#2', '#1'])
  })

  test('the preview is the first 200 characters, none cut in half', async () => {
    const { bodyPreview } = await roundTrip('🎣'.repeat(300), 'text/plain')
    expect(bodyPreview).toBe('🎣'.repeat(200))
    expect((await roundTrip(`${'a'.repeat(199)}éx`, 'text/plain')).bodyPreview).toBe(`${'a'.repeat(199)}é`)
  })
})

describe('the head comes back as it was sent', () => {
  test('whatever its names are, __proto__ too', async () => {
    await sendRaw(
      endpoint.url,
      `POST /hook/${endpoint.id}?__proto__=1&constructor=2&__proto__=3 HTTP/1.1\r\nHost: h\r\n__proto__: a\r\ntoString: b\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
    )
    const [row] = await endpoint.requests('pageSize=1')
    const { text } = await alice.get(endpoint.at(`/requests/${row?.id}`))
    expect(text).toContain('"query":{"__proto__":["1","3"],"constructor":["2"]}')
    expect(text).toContain('"__proto__":"a","toString":"b"')
  })

  test('target: no dot segment folded, nothing re-encoded', async () => {
    const suffix = '/a/../%2e%2E/b//c;d=%41/'
    const query = "x=1&x=2&y=a+b%20c&bad=%zz&=&n&q='%22<>"
    await sendRaw(
      endpoint.url,
      `POST /hook/${endpoint.id.toUpperCase()}${suffix}?${query} HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
    )
    const stored = await newest()
    expect(stored).toMatchObject({
      path: suffix,
      queryString: query,
      url: `${endpoint.url}${suffix}?${query}`,
    })
    expect(stored.query).toEqual({
      x: ['1', '2'],
      y: ['a b c'],
      bad: ['%zz'],
      '': [''],
      n: [''],
      q: [`'"<>`],
    })
  })

  test('target: one that names a capture URL only once its dot segments are folded captures nothing', async () => {
    const before = await endpoint.requests('pageSize=1')
    for (const way of ['/x/../hook', '/./hook', '/%2e%2e/hook', '/api/../hook', '/hook/../hook/..\\hook']) {
      for (const method of ['HEAD', 'POST']) {
        const answer = await sendRaw(
          endpoint.url,
          `${method} ${way}/${endpoint.id}/a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`,
        )
        expect([way, answer.status]).toEqual([way, 404])
      }
    }
    expect(await endpoint.requests('pageSize=1')).toEqual(before)
  })

  test('a byte order mark at the start of the query, and of a header', async () => {
    const mark = '\xef\xbb\xbf'
    await sendRaw(
      endpoint.url,
      `GET /hook/${endpoint.id}?${mark}x=1 HTTP/1.1\r\nHost: h\r\nX-Mark: ${mark}abc\r\nConnection: close\r\n\r\n`,
    )
    expect(await newest()).toMatchObject({
      queryString: '\ufeffx=1',
      headers: { 'X-Mark': '\ufeffabc' },
    })
  })

  test('a query without content, and none', async () => {
    await endpoint.send({ suffix: '/x' })
    expect(await newest()).toMatchObject({ path: '/x', queryString: null })
    await sendRaw(endpoint.url, `GET /hook/${endpoint.id}? HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`)
    expect(await newest()).toMatchObject({ path: '', queryString: '', url: `${endpoint.url}?` })
  })

  test('headers: order, spelling, repeats, and bytes beyond ASCII', async () => {
    const fields = [
      ['Host', 'h'],
      ['x-REPEATED', 'one'],
      ['Content-Type', 'text/plain'],
      ['X-Repeated', 'two'],
      ['Cookie', 'a=1'],
      ['Cookie', 'b=2'],
      ['X-Empty', ''],
      ['X-Utf8', Buffer.from('Zoë').toString('latin1')],
      ['X-Latin1', 'Zo\xeb'],
      ['User-Agent', 'Sender/1'],
      ['Connection', 'close'],
      ['X-Forwarded-For', '203.0.113.9'],
      ['Content-Length', '0'],
    ] as const
    const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')
    await sendRaw(endpoint.url, `POST /hook/${endpoint.id} HTTP/1.1\r\n${head}\r\n`)
    const stored = await newest()
    expect(stored.rawHeaders.map(({ name }) => name)).toEqual(fields.map(([name]) => name))
    expect(stored.rawHeaders.map(({ value }) => value)).toEqual(
      fields.map(([name, value]) => (name === 'X-Utf8' || name === 'X-Latin1' ? 'Zoë' : value)),
    )
    expect(stored.headers).toMatchObject({ 'x-REPEATED': 'one, two', Cookie: 'a=1; b=2', 'X-Utf8': 'Zoë' })
    // No proxy is trusted here.
    expect(stored).toMatchObject({ ip: '127.0.0.1', userAgent: 'Sender/1', contentType: 'text/plain' })
  })

  test('headers as long as a head may be, all of them; a longer head is refused', async () => {
    const send = (length: number) =>
      sendRaw(
        endpoint.url,
        `POST /hook/${endpoint.id} HTTP/1.1\r\nHost: h\r\nX-1: ${'v'.repeat(length)}\r\nX-2: w\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
      )
    expect((await send(150_000)).status).toBe(200)
    const { rawHeaders } = await newest()
    expect(rawHeaders.map(({ name }) => name)).toEqual(['Host', 'X-1', 'X-2', 'Connection', 'Content-Length'])
    expect(rawHeaders[1]?.value).toHaveLength(150_000)
    expect((await send(170_000)).status).toBe(431)
  })

  test('as many headers as a head may have', async () => {
    const fields = Array.from({ length: 990 }, (_, index) => `X-${index}: v\r\n`).join('')
    await sendRaw(
      endpoint.url,
      `POST /hook/${endpoint.id} HTTP/1.1\r\nHost: h\r\n${fields}Connection: close\r\nContent-Length: 0\r\n\r\n`,
    )
    expect((await newest()).rawHeaders).toHaveLength(993)
  })

  test('a method that nobody knows, and a target beyond ASCII', async () => {
    const utf8 = Buffer.from('/Zoë').toString('latin1')
    for (const [sent, kept] of [
      [utf8, '/Zoë'],
      ['/Zo\xeb', '/Zoë'],
    ]) {
      await sendRaw(
        endpoint.url,
        `FETCH-ALL! /hook/${endpoint.id}${sent}?q=${sent} HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi`,
      )
      expect(await newest()).toMatchObject({
        method: 'FETCH-ALL!',
        path: kept,
        queryString: `q=${kept}`,
        body: 'hi',
      })
    }
  })

  test('the fields behind a chunked body, which say nothing of where it comes from', async () => {
    await sendRaw(
      endpoint.url,
      `POST /hook/${endpoint.id} HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\nhi\r\n0\r\nX-Checksum: 1\r\nContent-Type: text/html\r\n\r\n`,
    )
    const stored = await newest()
    expect(stored).toMatchObject({ body: 'hi', contentType: null })
    expect(stored.rawHeaders.slice(-2)).toEqual([
      { name: 'X-Checksum', value: '1' },
      { name: 'Content-Type', value: 'text/html' },
    ])
  })

  test('a sender that ends its side after the request has its answer', async () => {
    const { port } = new URL(endpoint.url)
    const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true })
    socket.end(`POST /hook/${endpoint.id}/half HTTP/1.0\r\nContent-Length: 2\r\n\r\nhi`)
    let answer = ''
    for await (const chunk of socket) answer += chunk
    expect(answer).toStartWith('HTTP/1.1 200 ')
    expect(await newest()).toMatchObject({ path: '/half', body: 'hi' })
  })
})
