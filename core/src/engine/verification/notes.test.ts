import { describe, expect, test } from 'bun:test'
import { createHash, createHmac } from 'node:crypto'
import type { CapturedRequest } from '../message/capturedRequest.ts'
import { PROVIDERS } from '../providers/index.ts'
import { evaluate } from './evaluate.ts'
import { prepareVerification } from './prepare.ts'

const URL = 'https://in.example.test/hook/0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33'
const NOW = new Date('2026-11-21T09:15:00.000Z')
const SECRET = 'dGhlIHNpZ25pbmcgc2VjcmV0IG9mIHRoZSBlbmRwb2ludA=='
const BODY = '{"event":"sent"}'

function verificationOf(provider: string, headers: readonly (readonly [string, string])[], receivedAt = NOW) {
  const body = Buffer.from(BODY)
  const request: CapturedRequest = {
    endpointId: '0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33',
    receivedAt,
    method: 'POST',
    path: '',
    queryString: null,
    headers,
    contentType: 'application/json',
    body,
    sizeBytes: body.length,
    bodyTruncated: false,
    ip: null,
  }
  const settings = { provider, signingSecret: SECRET, handshakeToken: null, manual: null }
  return evaluate(prepareVerification(settings), request, URL)
}

describe('the note of a verdict', () => {
  test('calls a signature that was cut wrong, not absent (Cloudinary is told by its length)', () => {
    const time = String(NOW.getTime() / 1000)
    const digest = createHash('sha1').update(`${BODY}${time}${SECRET}`).digest('hex')
    const sent = (signature: string) =>
      verificationOf('cloudinary', [
        ['X-Cld-Signature', signature],
        ['X-Cld-Timestamp', time],
      ])
    expect(sent(digest)?.verdict).toBe('verified')
    expect(sent(digest.slice(0, 39))).toEqual({
      verdict: 'failed',
      note: 'X-Cld-Signature: it has 39 characters, not 40 or 64.',
    })
    expect(verificationOf('cloudinary', [])?.verdict).toBe('unsigned')
  })

  test('names the header that holds the signature (DocuSign numbers them)', () => {
    const good = createHmac('sha256', SECRET).update(BODY).digest('base64')
    const bad = createHmac('sha256', 'other').update(BODY).digest('base64')
    const sent = (...signatures: readonly (readonly [number, string])[]) =>
      verificationOf(
        'docusign',
        signatures.map(([number, value]) => [`X-DocuSign-Signature-${number}`, value]),
      )
    expect(sent([2, good])?.note).toStartWith('X-DocuSign-Signature-2 matches')
    expect(sent([1, bad], [3, good])?.note).toStartWith('X-DocuSign-Signature-3 matches')
    expect(sent([2, bad])?.note).toStartWith('X-DocuSign-Signature-2 does not match')
  })

  test('never says that a timestamp is as old as what is accepted', () => {
    const signedAt = Math.floor(NOW.getTime() / 1000)
    const signature = createHmac('sha256', SECRET).update(`${signedAt}.${BODY}`).digest('hex')
    const after = (seconds: number) =>
      verificationOf(
        'stripe',
        [['Stripe-Signature', `t=${signedAt},v1=${signature}`]],
        new Date(NOW.getTime() + seconds * 1000),
      )?.note
    expect(after(302)).toContain('is 302 s old; at most 300 s is accepted')
    expect(after(-301)).toContain('is 301 s ahead; at most 300 s is accepted')
    expect(after(900)).toContain('is 15 min old; at most 5 min is accepted')
  })

  test.each(PROVIDERS.map(({ slug }) => [slug]))('of %s is a sentence where nothing is signed', (slug) => {
    const note = verificationOf(slug, [])?.note ?? ''
    expect(note).not.toMatch(/carries no the|, the /)
  })
})
