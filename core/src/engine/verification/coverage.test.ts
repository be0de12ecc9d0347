import { describe, expect, test } from 'bun:test'
import { createHash, createHmac } from 'node:crypto'
import type { CapturedRequest } from '../message/capturedRequest.ts'
import { PROVIDERS } from '../providers/index.ts'
import { evaluate } from './evaluate.ts'
import { prepareVerification } from './prepare.ts'

/** Requests with a signature of the provider that does not prove their bodies. */

const SECRET = 'a secret of the test'
const URL_CALLED = 'https://in.example.test/hook/0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33'

interface Sent {
  readonly headers: Readonly<Record<string, string>>
  readonly contentType: string | null
  readonly body: string | Uint8Array
  readonly method?: string
}

function verdictOn(provider: string, { headers, contentType, body, method = 'POST' }: Sent) {
  const bytes = Buffer.from(body)
  const request: CapturedRequest = {
    endpointId: '0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33',
    receivedAt: new Date(),
    method,
    path: '',
    queryString: null,
    headers: Object.entries(headers),
    contentType,
    body: bytes,
    sizeBytes: bytes.length,
    bodyTruncated: false,
    ip: null,
  }
  const settings = { provider, manual: null, signingSecret: SECRET, handshakeToken: null }
  return evaluate(prepareVerification(settings), request, URL_CALLED)
}

const hmac = (hash: string, message: string) =>
  createHmac(hash, SECRET).update(message, 'latin1').digest('base64')
const sha256 = (...parts: readonly (string | Uint8Array)[]) =>
  createHash('sha256')
    .update(Buffer.concat([SECRET, ...parts].map((part) => Buffer.from(part))))
    .digest('hex')

const FORM = 'application/x-www-form-urlencoded'

/** Signatures over the URL alone, as a request without a form has them. */
const OVER_URL: readonly (readonly [
  string,
  Readonly<Record<string, string>>,
  formHeaders: Readonly<Record<string, string>>,
])[] = [
  [
    'twilio',
    { 'X-Twilio-Signature': hmac('sha1', URL_CALLED) },
    { 'X-Twilio-Signature': hmac('sha1', `${URL_CALLED}a1`) },
  ],
  [
    'mandrill',
    { 'X-Mandrill-Signature': hmac('sha1', URL_CALLED) },
    { 'X-Mandrill-Signature': hmac('sha1', `${URL_CALLED}a1`) },
  ],
  [
    'plivo',
    { 'X-Plivo-Signature-V3': hmac('sha256', `${URL_CALLED}.5`), 'X-Plivo-Signature-V3-Nonce': '5' },
    { 'X-Plivo-Signature-V3': hmac('sha256', `${URL_CALLED}?a1.5`), 'X-Plivo-Signature-V3-Nonce': '5' },
  ],
]

describe.each(OVER_URL)('%s signs the fields of a form', (provider, overUrl, overForm) => {
  test('and its signature over the URL alone proves no body', () => {
    for (const contentType of ['application/json', 'text/plain', 'multipart/form-data; boundary=x', null]) {
      for (const method of ['POST', 'PUT', 'GET']) {
        const verdict = verdictOn(provider, { headers: overUrl, contentType, body: '{"amount":1}', method })
        expect(verdict).toMatchObject({ verdict: 'failed', note: expect.stringContaining('no form') })
      }
    }
  })

  test('so a form and an empty body are proved', () => {
    expect(verdictOn(provider, { headers: overForm, contentType: FORM, body: 'a=1' })?.verdict).toBe(
      'verified',
    )
    expect(verdictOn(provider, { headers: overForm, contentType: FORM, body: 'a=2' })?.verdict).toBe('failed')
    for (const method of ['POST', 'GET'])
      expect(verdictOn(provider, { headers: overUrl, contentType: null, body: '', method })?.verdict).toBe(
        'verified',
      )
  })
})

test('plivo signs no form of another method than POST', () => {
  const [, , [, headers] = ['', {}]] = OVER_URL
  const verdict = verdictOn('plivo', { headers, contentType: FORM, body: 'a=1', method: 'PUT' })
  expect(verdict?.verdict).toBe('failed')
})

describe('hubspot', () => {
  const body = '[{"eventId":1}]'
  /** The padding that SHA-256 adds to the secret and the body: what follows it can be signed without the secret. */
  const padding = (before: string) => {
    const bits = Buffer.alloc(8)
    bits.writeBigUInt64BE(BigInt((SECRET.length + before.length) * 8))
    const zeros = (119 - ((SECRET.length + before.length) % 64)) % 64
    return Buffer.concat([Buffer.from([0x80]), Buffer.alloc(zeros), bits])
  }
  const versions = [
    ['v1', ''],
    ['v2', `POST${URL_CALLED}`],
  ] as const

  test.each(versions)('%s takes what was signed, and says what that does not prove', (version, head) => {
    const headers = { 'X-HubSpot-Signature': sha256(head, body), 'X-HubSpot-Signature-Version': version }
    const verdict = verdictOn('hubspot', { headers, contentType: 'application/json', body })
    expect(verdict).toMatchObject({ verdict: 'verified', note: expect.stringContaining('when it was sent') })
    const page = PROVIDERS.find(({ slug }) => slug === 'hubspot')?.schemes.find(({ id }) =>
      id.endsWith(version),
    )
    expect(page?.caveat).toContain('when it was sent')
  })

  test.each(versions)('%s refuses a body that was extended without the secret', (version, head) => {
    const extended = Buffer.concat([Buffer.from(body), padding(head + body), Buffer.from('[{"eventId":2}]')])
    const headers = { 'X-HubSpot-Signature': sha256(head, extended), 'X-HubSpot-Signature-Version': version }
    const verdict = verdictOn('hubspot', { headers, contentType: 'application/json', body: extended })
    expect(verdict).toMatchObject({ verdict: 'failed', note: expect.stringContaining('control characters') })
  })

  test.each(versions)('%s is not taken in place of v3, whose time announces it', (version, head) => {
    const headers = {
      'X-HubSpot-Signature': sha256(head, body),
      'X-HubSpot-Signature-Version': version,
      'X-HubSpot-Request-Timestamp': String(Date.now()),
    }
    const verdict = verdictOn('hubspot', { headers, contentType: 'application/json', body })
    expect(verdict).toMatchObject({
      verdict: 'failed',
      note: expect.stringContaining('X-HubSpot-Signature-v3'),
    })
  })
})

test('a signed time has an age limit', () => {
  const signed = PROVIDERS.flatMap(({ slug, schemes }) =>
    schemes.filter(({ message }) => message?.includes('{timestamp}')).map((row) => ({ slug, row })),
  )
  expect(signed.length).toBeGreaterThan(40)
  expect(signed.filter(({ row }) => row.timestamp?.toleranceSeconds === undefined)).toEqual([])
})
