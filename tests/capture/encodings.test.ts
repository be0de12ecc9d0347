/** Bodies that arrive compressed: read decoded everywhere, stored and forwarded as they came. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { z } from 'zod'
import type { Client, TestEndpoint } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'

let alice: Client

beforeAll(async () => {
  alice = (await startService()).alice
})

const EVENT = JSON.stringify({
  id: 'evt_gz',
  object: 'event',
  type: 'order.paid',
  data: { object: { email: 'ada@example.com', note: 'x'.repeat(200) } },
})
const SECRET = 'whsec_encodings'

const Detail = z.looseObject({
  label: z.string().nullable(),
  eventId: z.string().nullable(),
  state: z.string(),
  bodyPreview: z.string().nullable(),
  bodyIsBinary: z.boolean(),
  body: z.string(),
  bodyKind: z.string(),
  verification: z.looseObject({ verdict: z.string() }).nullable(),
  decodedBody: z
    .object({
      encoding: z.string(),
      text: z.string().nullable(),
      sizeBytes: z.int().nullable(),
      fault: z.string().nullable(),
    })
    .nullable(),
})
const Found = z.looseObject({ items: z.array(z.looseObject({ id: z.int() })) })

async function captured(endpoint: TestEndpoint, encoding: string, body: Uint8Array, headers = {}) {
  const { id } = await endpoint.capture({
    headers: { 'Content-Encoding': encoding, ...headers },
    body: new Uint8Array(body),
  })
  return await alice.expect(alice.get(endpoint.at(`/requests/${id}`)), Detail)
}

const found = async (endpoint: TestEndpoint, query: string) =>
  (await alice.expect(alice.get(endpoint.at(`/requests?${query}`)), Found)).items.length

describe('a compressed body', () => {
  test('of Stripe is verified, labelled, searched, matched by a condition and forwarded byte for byte', async () => {
    await using receiver = await startReceiver()
    const endpoint = await alice.endpoint({ provider: 'stripe', signingSecret: SECRET })
    const action = {
      kind: 'forward',
      url: receiver.url,
      condition: { path: 'body.type', op: 'eq', value: 'order.paid' },
    }
    await alice.post(endpoint.at('/actions'), action)
    const bytes = gzipSync(EVENT)
    // The signature is over the bytes that are sent. Stripe's package signs text only.
    const timestamp = Math.floor(Date.now() / 1000)
    const signed = Buffer.concat([Buffer.from(`${timestamp}.`), bytes])
    const digest = new Bun.CryptoHasher('sha256', SECRET).update(signed).digest('hex')
    const request = await captured(endpoint, 'gzip', bytes, {
      'Stripe-Signature': `t=${timestamp},v1=${digest}`,
    })
    expect(request).toMatchObject({
      verification: { verdict: 'verified' },
      label: 'order.paid',
      eventId: 'evt_gz',
      bodyIsBinary: true,
      bodyKind: 'json',
      decodedBody: { encoding: 'gzip', text: EVENT, sizeBytes: EVENT.length, fault: null },
    })
    expect(request.bodyPreview).toBe(EVENT.slice(0, 200))
    expect(Buffer.from(request.body, 'base64').equals(bytes)).toBe(true)
    for (const query of ['q=ADA%40example', 'label=order.paid', 'eventId=evt_gz'])
      expect(await found(endpoint, query)).toBe(1)
    const [forwarded] = await receiver.take(1)
    expect(forwarded?.body.equals(bytes)).toBe(true)
    expect(forwarded?.header('content-encoding')).toBe('gzip')
  })

  test.each([
    ['gzip', gzipSync(EVENT)],
    ['x-gzip', gzipSync(EVENT)],
    ['deflate', deflateSync(EVENT)],
    ['deflate', deflateRawSync(EVENT)],
    ['br', brotliCompressSync(EVENT)],
    ['zstd', zstdCompressSync(EVENT)],
    ['GZIP, br', brotliCompressSync(gzipSync(EVENT))],
    ['gzip, ,', gzipSync(EVENT)],
  ])('as %s is read', async (encoding, bytes) => {
    const request = await captured(await alice.endpoint(), encoding, bytes)
    expect(request).toMatchObject({
      label: 'order.paid',
      decodedBody: { encoding, text: EVENT, fault: null },
    })
  })

  test('that a rule changes goes out plain, without the header', async () => {
    await using receiver = await startReceiver()
    const endpoint = await alice.endpoint()
    await alice.post(endpoint.at('/actions'), { kind: 'forward', url: receiver.url })
    const rule = { version: 1, name: 'Slim', steps: [{ op: 'remove', paths: ['body.data'] }] }
    await alice.expect(alice.post(endpoint.at('/transformations'), rule), z.looseObject({}))
    await captured(endpoint, 'gzip', gzipSync(EVENT))
    const [forwarded] = await receiver.take(1)
    expect(JSON.parse(forwarded?.body.toString() ?? '')).toEqual({
      id: 'evt_gz',
      object: 'event',
      type: 'order.paid',
    })
    expect(forwarded?.header('content-encoding')).toBeUndefined()
  })

  test('is stored without what the rules for storing take out', async () => {
    const storeRules = [
      { version: 1, name: 'No mail', steps: [{ op: 'remove', paths: ['body.data.object.email'] }] },
    ]
    const endpoint = await alice.endpoint({ storeRules })
    const request = await captured(endpoint, 'gzip', gzipSync(EVENT))
    expect(request).toMatchObject({ bodyIsBinary: false, decodedBody: null, label: 'order.paid' })
    expect(request.body).not.toContain('ada@example.com')
    expect(await found(endpoint, 'q=ada%40example')).toBe(0)
  })

  test.each([
    ['gzip', gzipSync(Buffer.alloc(20_000_000, 0x41)), 'too_long'],
    ['deflate', deflateSync(Buffer.alloc(20_000_000, 0x41)), 'too_long'],
    ['br', brotliCompressSync(Buffer.alloc(20_000_000, 0x41)), 'too_long'],
    ['zstd', zstdCompressSync(Buffer.alloc(20_000_000, 0x41)), 'too_long'],
    ['br', Buffer.from('no Brotli at all'), 'invalid'],
    ['zstd', Buffer.from('no Zstandard at all'), 'invalid'],
    ['gzip', Buffer.from('no gzip at all'), 'invalid'],
    ['compress', gzipSync(EVENT), 'unknown_encoding'],
    ['gzip,gzip,gzip,gzip', gzipSync(EVENT), 'unknown_encoding'],
    ['constructor', gzipSync(EVENT), 'unknown_encoding'],
  ])('as %s that cannot be decoded is read as it came, and says why', async (encoding, bytes, fault) => {
    const endpoint = await alice.endpoint()
    const request = await captured(endpoint, encoding, bytes)
    expect(request).toMatchObject({ label: null, decodedBody: { text: null, fault } })
    expect((await endpoint.send()).status).toBe(200)
  })
})

test('the decoded body is downloaded whole and in parts; other bodies as they came', async () => {
  const endpoint = await alice.endpoint()
  const body = async (encoding: string, bytes: Uint8Array, { range = '', query = '?decoded=true' } = {}) => {
    const { id } = await endpoint.capture({
      headers: { 'Content-Encoding': encoding },
      body: new Uint8Array(bytes),
    })
    const path = endpoint.at(`/requests/${id}/body${query}`)
    const { headers, status, text } = await alice.get(path, { headers: range === '' ? {} : { Range: range } })
    return [status, text, headers.get('content-range')]
  }
  expect(await body('br', brotliCompressSync(EVENT))).toEqual([200, EVENT, null])
  expect(await body('br', brotliCompressSync(EVENT), { range: 'bytes=2-5' })).toEqual([
    206,
    EVENT.slice(2, 6),
    `bytes 2-5/${EVENT.length}`,
  ])
  expect(await body('gzip', Buffer.from(EVENT))).toEqual([200, EVENT, null])
  expect(await body('identity', Buffer.from(EVENT))).toEqual([200, EVENT, null])
  expect(await body('gzip', gzipSync(EVENT), { query: '' })).not.toContain(EVENT)
})

test('requests that are searched by their decoded text are found after an import, too', async () => {
  const endpoint = await alice.endpoint()
  await captured(endpoint, 'gzip', gzipSync(EVENT))
  const exported = await alice.get(endpoint.at('/requests/export?format=ndjson'))
  const other = await alice.endpoint()
  await other.importLines(exported.text)
  await eventually('the import', async () => (await found(other, 'q=ada%40example')) === 1)
})
