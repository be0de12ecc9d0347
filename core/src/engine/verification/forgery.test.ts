import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { CapturedRequest } from '../message/index.ts'
import { PROVIDERS, type SignaturePlace } from '../providers/index.ts'
import { evaluate } from './evaluate.ts'
import { handshakeAnswer } from './handshakes.ts'
import { prepareVerification } from './prepare.ts'

const URL = 'https://capture.example.com/hook/0b7e2f8c-8f5e-4a39-9c0e-6f1d2a3b4c5d'
const ENDPOINT = { publicUrl: URL, captureRatePerMinute: 600 }
const SECRET = 'dGhlIHNpZ25pbmcgc2VjcmV0IG9mIHRoZSBlbmRwb2ludA=='
const ANSWERING = PROVIDERS.filter(({ handshakes }) => handshakes.length > 0)

/** Texts that an attacker would like to have signed, and texts that a handshake takes. */
const wanted = fc.oneof(
  fc.string({ maxLength: 140 }),
  fc.json({ maxDepth: 1 }),
  fc.stringMatching(/^[A-Za-z0-9+/=_.~-]{1,128}$/),
  fc.stringMatching(/^[0-9a-f]{20,32}$/),
  fc.uuid(),
)

function requestOf(more: Partial<CapturedRequest>): CapturedRequest {
  const body = more.body ?? new Uint8Array()
  return {
    ...{ endpointId: '', receivedAt: new Date(), method: 'POST', path: '', ip: null, bodyTruncated: false },
    ...{ queryString: null, headers: [], contentType: 'application/json', sizeBytes: body.length },
    ...more,
    body,
  }
}

/** Every request that could be a challenge of a provider, with this text. */
function challenges(text: string): CapturedRequest[] {
  const names = ['crc_token', 'challengeCode', 'bt_challenge', 'challenge', 'challenge_code', 'hub.challenge']
  const hub = '&hub.mode=subscribe&hub.topic=t&hub.verify_token=token&validationToken='
  const query = names.map((name) => `${name}=${encodeURIComponent(text)}`).join('&')
  const queryString = `${query}${hub}${encodeURIComponent(text)}`
  const documents = [
    { event: 'endpoint.url_validation', payload: { plainToken: text } },
    { eventType: 'VERIFY', data: { challenge: text } },
    { type: 'url_verification', challenge: text },
  ]
  return [
    requestOf({ method: 'GET', queryString }),
    requestOf({ queryString }),
    ...documents.map((document) => requestOf({ body: Buffer.from(JSON.stringify(document)) })),
  ]
}

/** Every text in an answer, also behind a prefix such as `sha256=`. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(textsOf)
  if (typeof value !== 'string') return []
  return [value, ...value.split(/[=|,]/).slice(1), value.slice(value.indexOf('=') + 1)]
}

/** The body as it would be sent, with the signature in the scheme's place. */
function forged(place: SignaturePlace, body: string, signature: string): CapturedRequest {
  if (place.in === 'form') {
    const fields = new URLSearchParams({ bt_signature: `public|${signature}`, bt_payload: body })
    return requestOf({
      body: Buffer.from(fields.toString()),
      contentType: 'application/x-www-form-urlencoded',
    })
  }
  const name = place.name ?? 'x'
  const time = String(Math.floor(Date.now() / 1000))
  const headers = [
    [name, `${place.prefix ?? ''}${signature}`],
    ['x-zm-request-timestamp', time],
  ] as const
  return requestOf({ body: Buffer.from(body), headers })
}

describe('no answer to a challenge', () => {
  test.each([null, 'hex', 'base64'] as const)('is taken as a signature (manual scheme: %p)', (encoding) => {
    fc.assert(
      fc.property(fc.constantFrom(...ANSWERING), wanted, (provider, text) => {
        const prepared = prepareVerification({
          provider: provider.slug,
          signingSecret: SECRET,
          handshakeToken: 'token',
          manual:
            encoding === null ? null : { header: 'X-Manual', algorithm: 'sha256', encoding, prefix: '' },
        })
        for (const challenge of challenges(text)) {
          const answer = handshakeAnswer(prepared, challenge, null, ENDPOINT)
          if (answer === null) continue
          const body = answer.contentType === 'application/json' ? JSON.parse(answer.body) : answer.body
          for (const signature of new Set([
            ...textsOf(body),
            ...answer.headers.flatMap(([, value]) => textsOf(value)),
          ])) {
            for (const { row } of prepared.schemes) {
              // A secret that is the signature itself is never in an answer.
              expect(signature).not.toBe(SECRET)
              const verdict = evaluate(prepared, forged(row.signature, text, signature), URL)?.verdict
              expect([provider.slug, text, verdict]).not.toEqual([provider.slug, text, 'verified'])
            }
          }
        }
      }),
      { numRuns: 400 },
    )
  })

  test.each(['x', 'linkedin', 'smartcar', 'zoom', 'braintree'])('of %s signs a body', (provider) => {
    const prepared = prepareVerification({
      provider,
      signingSecret: SECRET,
      handshakeToken: 't',
      manual: null,
    })
    for (const body of ['{"id":1}', '[1]', 'a b', 'x'.repeat(129)])
      for (const challenge of challenges(body)) {
        const texts = JSON.stringify(handshakeAnswer(prepared, challenge, null, ENDPOINT) ?? '')
        expect(texts).not.toMatch(/[0-9a-f]{40}|[A-Za-z0-9+/]{43}=/)
      }
  })
})
