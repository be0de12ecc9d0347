import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { CapturedRequest, Verification } from '../message/capturedRequest.ts'
import { PROVIDERS } from '../providers/index.ts'
import { CHALLENGE_LENGTH_MAX, handshakeAnswer } from './handshakes.ts'
import { prepareVerification } from './prepare.ts'

const URL = 'https://capture.example.com/hook/0b7e2f8c-8f5e-4a39-9c0e-6f1d2a3b4c5d'

interface Posed {
  readonly method?: string
  readonly query?: string
  readonly headers?: readonly (readonly [string, string])[]
  readonly json?: unknown
  readonly secret?: string | null
  readonly token?: string | null
  readonly verdict?: Verification['verdict'] | null
}

function answer(provider: string, { method = 'POST', query, headers = [], json, ...given }: Posed) {
  const body = Buffer.from(json === undefined ? '' : JSON.stringify(json))
  const request: CapturedRequest = {
    ...{ endpointId: '', receivedAt: new Date(), method, path: '', ip: null, bodyTruncated: false },
    queryString: query ?? null,
    headers,
    contentType: json === undefined ? null : 'application/json',
    body,
    sizeBytes: body.length,
  }
  const prepared = prepareVerification({
    provider,
    signingSecret: given.secret ?? null,
    handshakeToken: given.token ?? null,
    manual: null,
  })
  const verification = given.verdict == null ? null : { verdict: given.verdict, note: '' }
  const publicUrl = query === undefined ? URL : `${URL}?${query}`
  return handshakeAnswer(prepared, request, verification, { publicUrl, captureRatePerMinute: 600 })
}

const text = (body: string) => ({ status: 200, contentType: 'text/plain', headers: [], body })
const json = (value: unknown, headers: [string, string][] = []) => ({
  status: 200,
  contentType: 'application/json',
  headers,
  body: JSON.stringify(value),
})
const empty = (status: number, headers: [string, string][] = []) => ({
  status,
  contentType: null,
  headers,
  body: '',
})

const HUB = 'hub.mode=subscribe&hub.verify_token=tok&hub.challenge=1158201444'

describe('the providers’ published examples and documented answers', () => {
  test.each<[string, Posed, object | null]>([
    [
      'braintree',
      {
        method: 'GET',
        query: 'bt_challenge=20f9f8ed05f77439fe955c977e4c8a53',
        secret: 'integration_private_key',
        token: 'integration_public_key',
      },
      text('integration_public_key|d9b899556c966b3f06945ec21311865d35df3ce4'),
    ],
    [
      'zoom',
      {
        json: { event: 'endpoint.url_validation', payload: { plainToken: 'qgg8vlvZRS6UYooatFL8Aw' } },
        secret: 'zoom_test_secret_0123',
      },
      json({
        plainToken: 'qgg8vlvZRS6UYooatFL8Aw',
        encryptedToken: '2558f26ae0c19b537309301338871b29c0debc5ee68a595a7efe10a34f02ab4d',
      }),
    ],
    [
      'smartcar',
      { json: { eventType: 'VERIFY', data: { challenge: '9c9c9c9c' } }, secret: 'smartcar_test_secret_0123' },
      json({ challenge: 'c9895b5c156cc42b161d992da27cbdd85c0644b3af5fd0030b53929ccd7ad78b' }),
    ],
    [
      'x',
      { method: 'GET', query: 'crc_token=challenge_string', secret: 'x_test_secret_0123' },
      json({ response_token: 'sha256=W+MNzK9atOYi7SyW2T3y9HPUf9Bc8u4jKYKMc9bVIug=' }),
    ],
    [
      'linkedin',
      {
        method: 'GET',
        query: 'challengeCode=890e4665-4dfe-4ab1-b689-ed553bceeed0',
        secret: 'linkedin_test_secret_0123',
      },
      json({
        challengeCode: '890e4665-4dfe-4ab1-b689-ed553bceeed0',
        challengeResponse: '8de92e8a92d85341dc166f4787152d4165aec6c8933b7c370e7dbbcd2a1c72e9',
      }),
    ],
    [
      'ebay',
      {
        method: 'GET',
        query: 'challenge_code=a8628072-3d33-45ee-9004-bee86830a22d',
        token: 'ebay_verification_token_0123456789abcdef',
      },
      json({ challengeResponse: '9eae0e3c16f1437cea4da029443009140e3b588f776e2b214049623d16cfa712' }),
    ],
    ['slack', { json: { type: 'url_verification', challenge: '3eZbrw1a' } }, text('3eZbrw1a')],
    ['slack', { json: { type: 'event_callback', challenge: '3eZbrw1a' } }, null],
    ['facebook', { method: 'GET', query: HUB, token: 'tok' }, text('1158201444')],
    ['facebook', { method: 'GET', query: HUB, token: 'other' }, empty(403)],
    ['facebook', { method: 'GET', query: HUB }, empty(403)],
    ['whatsapp', { method: 'GET', query: HUB, token: 'tok' }, text('1158201444')],
    ['instagram', { method: 'GET', query: HUB, token: 'tok' }, text('1158201444')],
    ['strava', { method: 'GET', query: HUB, token: 'tok' }, json({ 'hub.challenge': '1158201444' })],
    ['websub', { method: 'GET', query: `${HUB}&hub.topic=t` }, text('1158201444')],
    ['websub', { method: 'GET', query: `${HUB}&hub.topic=t`, token: 'tok' }, text('1158201444')],
    ['websub', { method: 'GET', query: `${HUB}&hub.topic=t`, token: 'other' }, empty(404)],
    ['youtube', { method: 'GET', query: 'hub.mode=unsubscribe&hub.topic=t&hub.challenge=c' }, text('c')],
    ['dropbox', { method: 'GET', query: 'challenge=a%20b' }, text('a b')],
    ['nylas', { method: 'GET', query: 'challenge=abc' }, text('abc')],
    ['microsoft-graph', { query: 'validationToken=Validation%3A+Testing' }, text('Validation: Testing')],
    ['sharepoint', { query: 'validationtoken=abc' }, text('abc')],
    ['monday', { json: { challenge: 'a"b' } }, json({ challenge: 'a"b' })],
    ['monday', { json: { challenge: 'ab', event: {} } }, null],
    [
      'okta',
      { method: 'GET', headers: [['X-Okta-Verification-Challenge', 'abc']] },
      json({ verification: 'abc' }),
    ],
    ['front', { headers: [['x-front-challenge', 'abc']] }, json({ challenge: 'abc' })],
    [
      'smartsheet',
      { headers: [['Smartsheet-Hook-Challenge', 'abc']] },
      json({ smartsheetHookResponse: 'abc' }, [['Smartsheet-Hook-Response', 'abc']]),
    ],
    ['ringcentral', { headers: [['Validation-Token', 'abc']] }, empty(200, [['Validation-Token', 'abc']])],
    [
      'asana',
      { headers: [['X-Hook-Secret', 'b537207f']] },
      { ...empty(200, [['X-Hook-Secret', 'b537207f']]), learnedSigningSecret: 'b537207f' },
    ],
    [
      'asana',
      { headers: [['X-Hook-Secret', 'b537207f']], secret: 'set' },
      empty(200, [['X-Hook-Secret', 'b537207f']]),
    ],
    [
      'notion',
      { json: { verification_token: 'secret_tMrlL1q' } },
      { ...empty(200), learnedSigningSecret: 'secret_tMrlL1q' },
    ],
    ['notion', { json: { verification_token: 'secret_tMrlL1q' }, secret: 'set' }, empty(200)],
    [
      'twitch',
      {
        headers: [['Twitch-Eventsub-Message-Type', 'webhook_callback_verification']],
        json: { challenge: 'pogchamp' },
      },
      text('pogchamp'),
    ],
    [
      'twitch',
      {
        headers: [['Twitch-Eventsub-Message-Type', 'webhook_callback_verification']],
        json: { challenge: 'pogchamp' },
        secret: 'set',
        verdict: 'failed',
      },
      empty(403),
    ],
    ['xero', { headers: [['x-xero-signature', 'a']], json: { events: [] }, verdict: 'verified' }, empty(200)],
    ['xero', { headers: [['x-xero-signature', 'a']], json: { events: [] }, verdict: 'failed' }, empty(401)],
    ['xero', { headers: [['x-xero-signature', 'a']], json: { events: [] } }, null],
    ['xero', { headers: [['x-xero-signature', 'a']], json: { events: [{}] }, verdict: 'failed' }, null],
    ['discord', { json: { type: 1 }, verdict: 'verified' }, json({ type: 1 })],
    ['discord', { json: { type: 0 }, verdict: 'verified' }, empty(204)],
    ['discord', { json: { type: 1, event: {} }, verdict: 'verified' }, null],
    ['discord', { json: { type: 1, event: {} }, verdict: 'failed' }, empty(401)],
    ['discord', { json: { type: 0 }, verdict: 'unsigned' }, empty(401)],
    ['discord', { json: { type: 2 }, verdict: 'verified' }, null],
    ['dropbox-sign', {}, text('Hello API Event Received')],
    ['mailchimp', { method: 'GET' }, empty(200)],
    ['trello', { method: 'HEAD' }, empty(200)],
    [
      'azure-event-grid',
      {
        headers: [['aeg-event-type', 'SubscriptionValidation']],
        json: [{ data: { validationCode: '512d38b6' } }],
      },
      json({ validationResponse: '512d38b6' }),
    ],
    [
      'azure-event-grid',
      { method: 'OPTIONS', headers: [['WebHook-Request-Origin', 'eventgrid.azure.net']] },
      empty(200, [['WebHook-Allowed-Origin', 'eventgrid.azure.net']]),
    ],
    [
      'cloudevents',
      { method: 'OPTIONS', headers: [['WebHook-Request-Origin', 'eventemitter.example.com']] },
      empty(200, [
        ['Allow', 'POST'],
        ['WebHook-Allowed-Origin', 'eventemitter.example.com'],
      ]),
    ],
    [
      'cloudevents',
      {
        method: 'OPTIONS',
        headers: [
          ['webhook-request-origin', 'eventemitter.example.com'],
          ['WEBHOOK-REQUEST-RATE', '120'],
          ['WebHook-Request-Callback', 'https://example.com/confirm?id=12345'],
        ],
      },
      empty(200, [
        ['Allow', 'POST'],
        ['WebHook-Allowed-Origin', 'eventemitter.example.com'],
        ['WebHook-Allowed-Rate', '600'],
      ]),
    ],
    ['cloudevents', { method: 'OPTIONS', headers: [['WebHook-Request-Rate', '120']] }, null],
    ['cloudevents', { headers: [['WebHook-Request-Origin', 'eventemitter.example.com']] }, null],
    ['cloudevents', { method: 'OPTIONS', headers: [['WebHook-Request-Origin', 'a\u00e9']] }, null],
    [
      'aws-sns',
      {
        headers: [['x-amz-sns-message-type', 'SubscriptionConfirmation']],
        json: { SubscribeURL: 'https://sns.us-east-1.amazonaws.com/?x', Token: 't' },
      },
      empty(200),
    ],
  ])('%s %p', (provider, posed, expected) => {
    expect(answer(provider, posed)).toEqual(expected as never)
  })
})

describe('bounds', () => {
  test.each(['zoom', 'x', 'linkedin', 'smartcar', 'braintree'])(
    '%s is not answered without its secret',
    (slug) => {
      const posed: Posed = {
        method: slug === 'zoom' || slug === 'smartcar' ? 'POST' : 'GET',
        query: `crc_token=a&challengeCode=0b7e2f8c-8f5e-4a39-9c0e-6f1d2a3b4c5d&bt_challenge=${'a'.repeat(32)}`,
        json:
          slug === 'zoom'
            ? { event: 'endpoint.url_validation', payload: { plainToken: 'a' } }
            : { eventType: 'VERIFY', data: { challenge: 'a' } },
        token: 'set',
      }
      expect(answer(slug, { ...posed, secret: 'set' })?.status).toBe(200)
      expect(answer(slug, posed)).toBeNull()
    },
  )

  test('a challenge that is too long is not echoed, and one of another provider is not answered', () => {
    const echo = (length: number) =>
      answer('dropbox', { method: 'GET', query: `challenge=${'x'.repeat(length)}` })
    expect(echo(CHALLENGE_LENGTH_MAX)?.body).toHaveLength(CHALLENGE_LENGTH_MAX)
    expect(echo(CHALLENGE_LENGTH_MAX + 1)).toBeNull()
    expect(answer('stripe', { method: 'GET', query: 'challenge=x' })).toBeNull()
  })

  test('what is reflected can neither run nor split a header, whatever arrives', () => {
    const value = fc.string({ unit: 'binary-ascii' })
    fc.assert(
      fc.property(
        fc.constantFrom(...PROVIDERS),
        value,
        fc.constantFrom('GET', 'POST', 'HEAD'),
        (row, value, method) => {
          const posed: Posed = {
            method,
            query: ['challenge', 'hub.challenge', 'validationToken', 'crc_token']
              .map((name) => `${name}=${encodeURIComponent(value)}`)
              .join('&'),
            headers: row.handshakes.flatMap(({ trigger }) =>
              Object.keys(trigger.header ?? {}).map((name) => [name, value] as const),
            ),
            json: { challenge: value, type: 'url_verification', verification_token: value },
            secret: 's',
          }
          const answered = answer(row.slug, posed)
          if (answered === null) return
          expect(['text/plain', 'application/json', null]).toContain(answered.contentType)
          for (const [, text] of answered.headers) expect(text).toMatch(/^[\x20-\x7e]*$/)
          if (answered.contentType === null) expect(answered.body).toBe('')
        },
      ),
      { numRuns: 500 },
    )
  })
})
