import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import type { CapturedRequest } from '../message/capturedRequest.ts'
import { evaluate } from './evaluate.ts'
import { prepareVerification } from './prepare.ts'
import type { VerificationSettings } from './settings.ts'

const SECRET = 'topsecret-value'
const BODY = '{"id": 1, "amount": 1.50, "url": "a/b", "name": "Zoë"}'

const hmac = (
  body: string,
  { secret = SECRET, hash = 'sha256', encoding = 'hex' as 'hex' | 'base64' | 'base64url' } = {},
) => createHmac(hash, secret).update(body).digest(encoding)

interface Case {
  readonly header?: string
  readonly value: string
  readonly body?: string
  readonly settings?: Partial<VerificationSettings>
  readonly headers?: readonly (readonly [string, string])[]
}

function noteFor({ header = 'X-Hub-Signature-256', value, body = BODY, settings, headers = [] }: Case) {
  const request: CapturedRequest = {
    endpointId: '',
    receivedAt: new Date('2026-11-21T09:15:00Z'),
    method: 'POST',
    path: '/eu',
    queryString: null,
    headers: [[header, value], ...headers],
    contentType: 'application/json',
    body: Buffer.from(body),
    sizeBytes: 0,
    bodyTruncated: false,
    ip: null,
  }
  const prepared = prepareVerification({
    provider: 'github',
    signingSecret: SECRET,
    handshakeToken: null,
    manual: null,
    ...settings,
  })
  const result = evaluate(prepared, request, 'https://in.example.test/hook/1/eu')
  expect(result?.verdict).toBe('failed')
  expect(result?.note).not.toContain(SECRET)
  return result?.note ?? ''
}

const good = `sha256=${hmac(BODY)}`

describe('a failed verdict names the mistake that explains it', () => {
  test.each<[string, Case, string]>([
    ['a missing prefix', { value: hmac(BODY) }, 'lacks the "sha256=" prefix'],
    ['another prefix', { value: `v1=${hmac(BODY)}` }, 'prefix "v1=" instead of "sha256="'],
    [
      'base64 for hex',
      { value: `sha256=${hmac(BODY, { encoding: 'base64' })}` },
      'written in base64, not in hex',
    ],
    [
      'base64 without a prefix',
      { value: hmac(BODY, { encoding: 'base64' }) },
      'the header lacks the "sha256=" prefix, and the signature is written in base64, not in hex',
    ],
    ['another digest', { value: `sha256=${hmac(BODY, { hash: 'sha1' })}` }, 'made with sha1, not sha256'],
    ['a trailing newline', { value: good, body: `${BODY}\n` }, 'once a trailing newline is removed'],
    ['a lost newline', { value: `sha256=${hmac(`${BODY}\n`)}` }, 'with a trailing newline'],
    ['a byte order mark', { value: good, body: `\ufeff${BODY}` }, 'byte order mark'],
    ['CRLF line ends', { value: `sha256=${hmac('a\nb')}`, body: 'a\r\nb' }, 'LF line ends'],
    [
      're-serialised JSON, number digits kept',
      { value: `sha256=${hmac(BODY.replaceAll(/([:,]) /g, '$1'))}` },
      'written compactly: the body was re-serialised',
    ],
    [
      're-serialised JSON, digits lost',
      { value: `sha256=${hmac(JSON.stringify(JSON.parse(BODY)))}` },
      'written compactly: the body was re-serialised',
    ],
    [
      'escaped JSON',
      { value: `sha256=${hmac(BODY.replace('ë', '\\u00eb'))}` },
      'with \\u escapes: the body was re-serialised',
    ],
    ['an empty body', { value: `sha256=${hmac('')}` }, 'matches an empty body'],
    [
      'blanks around the secret',
      { value: good, settings: { signingSecret: ` ${SECRET}\n` } },
      'once the blanks',
    ],
    [
      'a secret to be decoded from base64',
      {
        value: `sha256=${createHmac('sha256', Buffer.from('c2VjcmV0', 'base64')).update(BODY).digest('hex')}`,
        settings: { signingSecret: 'c2VjcmV0' },
      },
      'signing secret is base64-decoded',
    ],
    [
      'a secret to be used as written',
      {
        header: 'X-Airtable-Content-MAC',
        value: `hmac-sha256=${hmac(BODY, { secret: 'c2VjcmV0' })}`,
        settings: { provider: 'airtable', signingSecret: 'c2VjcmV0' },
      },
      'used as it is written',
    ],
    [
      "another provider's header",
      { value: 'sha256=00', headers: [['X-Gitea-Signature', hmac(BODY)]] },
      'stands in X-Gitea-Signature, not in X-Hub-Signature-256',
    ],
    [
      'another public URL',
      {
        header: 'x-square-hmacsha256-signature',
        value: createHmac('sha256', SECRET).update(`http://10.0.0.7/hook/1/eu${BODY}`).digest('base64'),
        settings: { provider: 'square' },
        headers: [['Host', '10.0.0.7']],
      },
      'the host that the request names, not the public capture URL',
    ],
    [
      'a manual scheme without its prefix',
      {
        header: 'X-Sig',
        value: hmac(BODY, { encoding: 'base64url' }),
        settings: {
          provider: null,
          manual: { header: 'X-Sig', algorithm: 'sha256', encoding: 'base64url', prefix: 'v1=' },
        },
      },
      'lacks the "v1=" prefix',
    ],
    [
      'the provider’s own test secret',
      {
        header: 'X-Zendesk-Webhook-Signature',
        value: createHmac('sha256', 'dGhpc19zZWNyZXRfaXNfZm9yX3Rlc3Rpbmdfb25seQ==')
          .update(`2026-11-21T09:15:00Z${BODY}`)
          .digest('base64'),
        settings: { provider: 'zendesk' },
        headers: [['X-Zendesk-Webhook-Signature-Timestamp', '2026-11-21T09:15:00Z']],
      },
      'public test secret',
    ],
    [
      'nothing known',
      { value: `sha256=${hmac('else')}` },
      'made with other credentials, or what was signed changed',
    ],
  ])('%s', (_, given, words) => {
    expect(noteFor(given)).toContain(words)
  })

  test('an unsigned request that carries another known signature says where', () => {
    const prepared = prepareVerification({
      provider: 'stripe',
      signingSecret: 'x',
      handshakeToken: null,
      manual: null,
    })
    const request = {
      ...{ endpointId: '', receivedAt: new Date(), method: 'POST', path: '', queryString: null, ip: null },
      ...{ contentType: null, body: Buffer.from('{}'), sizeBytes: 2, bodyTruncated: false },
      headers: [['X-Hub-Signature-256', 'sha256=00']] as const,
    }
    expect(evaluate(prepared, request, '')).toEqual({
      verdict: 'unsigned',
      note: 'The request carries no Stripe-Signature, but X-Hub-Signature-256 is there.',
    })
  })

  test('a long body is evaluated, but no cause is looked for', () => {
    const body = 'x'.repeat(100_000)
    expect(noteFor({ value: hmac(body), body })).toContain('lacks the "sha256=" prefix')
    expect(noteFor({ value: `sha256=${hmac(`${body}\n`)}`, body })).toContain('made with other credentials')
  })

  test('a flood of bad signatures is evaluated, but no longer explained; a while later it is again', () => {
    const prepared = prepareVerification({
      ...{ provider: 'github', signingSecret: SECRET, handshakeToken: null, manual: null },
    })
    const body = Buffer.from('x'.repeat(60_000))
    const verdictAt = (receivedAt: Date) =>
      evaluate(
        prepared,
        {
          ...{ endpointId: '', receivedAt, method: 'POST', path: '', queryString: null, ip: null, body },
          ...{ contentType: null, sizeBytes: body.length, bodyTruncated: false },
          headers: [['X-Hub-Signature-256', hmac(body.toString())]],
        },
        '',
      )
    const at = (seconds: number) => new Date(1_800_000_000_000 + seconds * 1000)
    expect(verdictAt(at(0))?.note).toContain('lacks the "sha256=" prefix')
    const flood = Array.from({ length: 200 }, () => verdictAt(at(0)))
    expect(flood.every((result) => result?.verdict === 'failed')).toBe(true)
    expect(flood.at(-1)?.note).toBe('X-Hub-Signature-256: its value lacks the "sha256=" prefix.')
    expect(verdictAt(at(10))?.note).toBe(
      'X-Hub-Signature-256 does not match: the header lacks the "sha256=" prefix.',
    )
  })
})
