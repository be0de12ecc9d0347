import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import type { CapturedRequest } from '../message/capturedRequest.ts'
import { findProvider } from '../providers/index.ts'
import { eventIdOf, eventIdPathOf, isEventId, parseEventIdPath, storedEventId } from './eventId.ts'

interface Sent {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly type?: string
  readonly query?: string
  readonly truncated?: boolean
}

function request({
  headers = {},
  body,
  type = 'application/json',
  query,
  truncated = false,
}: Sent): CapturedRequest {
  const bytes = Buffer.from(typeof body === 'string' ? body : (JSON.stringify(body) ?? ''))
  return {
    ...{ endpointId: '', receivedAt: new Date(), method: 'POST', path: '', ip: null },
    queryString: query ?? null,
    headers: Object.entries(headers).map(
      ([name, value]) => [name, Buffer.from(value).toString('latin1')] as const,
    ),
    contentType: type,
    body: bytes,
    sizeBytes: bytes.length,
    bodyTruncated: truncated,
  }
}

const atPath = (path: string, sent: Sent) => eventIdOf(eventIdPathOf(path), undefined, request(sent))
const digest = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`
const UUID = '72d3162e-cc78-11e3-81ab-4c9367dc0958'

// Requests as their senders document them; the id is the field that their own packages and references name.
test.each<[string, Sent, string]>([
  [
    'stripe',
    { body: { id: 'evt_1NG8Du2eZvKYlo2CUI79vXWy', object: 'event', data: { object: { id: 'in_1' } } } },
    'evt_1NG8Du2eZvKYlo2CUI79vXWy',
  ],
  [
    'github',
    { headers: { 'X-GitHub-Delivery': UUID, 'X-GitHub-Hook-ID': '292430182' }, body: { id: 1 } },
    UUID,
  ],
  ['gitlab', { headers: { 'Idempotency-Key': UUID, 'X-Gitlab-Event-UUID': '13792a34' } }, UUID],
  ['bitbucket', { headers: { 'X-Request-UUID': UUID, 'X-Hook-UUID': 'the hook' } }, UUID],
  [
    'shopify',
    { headers: { 'X-Shopify-Event-Id': '98880550', 'X-Shopify-Webhook-Id': 'b54557e4' } },
    '98880550',
  ],
  ['woocommerce', { headers: { 'X-WC-Webhook-Delivery-ID': '9e1f6c' } }, '9e1f6c'],
  [
    'slack',
    { body: { event_id: 'Ev08MFMKH6', event: { client_msg_id: 'x' }, type: 'event_callback' } },
    'Ev08MFMKH6',
  ],
  [
    'twilio',
    {
      headers: { 'I-Twilio-Idempotency-Token': UUID },
      body: 'MessageSid=SM1',
      type: 'application/x-www-form-urlencoded',
    },
    UUID,
  ],
  ['svix', { headers: { 'svix-id': 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W' } }, 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W'],
  ['svix', { headers: { 'webhook-id': 'msg_2' } }, 'msg_2'],
  ['standard-webhooks', { headers: { 'webhook-id': 'msg_loFOjxBNrRLzqYUf' } }, 'msg_loFOjxBNrRLzqYUf'],
  ['clerk', { headers: { 'svix-id': 'msg_3' }, body: { data: { id: 'user_1' } } }, 'msg_3'],
  ['resend', { headers: { 'svix-id': 'msg_4' } }, 'msg_4'],
  ['openai', { headers: { 'webhook-id': 'wh_1' }, body: { id: 'evt_1' } }, 'wh_1'],
  [
    'paypal',
    { headers: { 'Paypal-Transmission-Id': 'each time another' }, body: { id: 'WH-2WR32451HC0233532' } },
    'WH-2WR32451HC0233532',
  ],
  ['square', { body: { event_id: UUID, data: { id: 'other' } } }, UUID],
  ['paddle', { body: { event_id: 'evt_01hv', notification_id: 'ntf_01hv' } }, 'evt_01hv'],
  ['razorpay', { headers: { 'x-razorpay-event-id': 'EventId1' } }, 'EventId1'],
  ['pagerduty', { body: { event: { id: '01BZ', data: { id: 'P1' } } } }, '01BZ'],
  ['linear', { headers: { 'Linear-Delivery': UUID }, body: { webhookId: 'the hook' } }, UUID],
  ['jira', { headers: { 'X-Atlassian-Webhook-Identifier': UUID } }, UUID],
  ['zendesk', { headers: { 'X-Zendesk-Webhook-Invocation-Id': '01GN' } }, '01GN'],
  ['intercom', { body: { type: 'notification_event', id: 'notif_1' } }, 'notif_1'],
  [
    'mailgun',
    { body: { signature: { token: 'another' }, 'event-data': { id: 'CPgfbmQMTCKtHW6uIWtuVe' } } },
    'CPgfbmQMTCKtHW6uIWtuVe',
  ],
  ['typeform', { body: { event_id: 'LtWXD3crgy', form_response: { token: 'a3a1' } } }, 'LtWXD3crgy'],
  ['telegram', { body: { update_id: 10000, message: {} } }, '10000'],
  ['twitch', { headers: { 'Twitch-Eventsub-Message-Id': 'e76c6bd4' } }, 'e76c6bd4'],
  ['aws-sns', { headers: { 'x-amz-sns-message-id': UUID } }, UUID],
])('%s puts the id of its event where the catalog says', (slug, sent, id) => {
  expect(eventIdOf(null, findProvider(slug), request(sent))).toBe(id)
})

test.each<[string, Sent, string | null]>([
  ['Standard Webhooks', { headers: { 'Webhook-Id': 'msg_1' } }, 'msg_1'],
  ['Svix', { headers: { 'svix-id': 'msg_2' } }, 'msg_2'],
  ['GitHub', { headers: { 'X-GitHub-Delivery': UUID } }, UUID],
  [
    'a CloudEvent',
    { headers: { 'ce-id': 'A234', 'ce-source': '/cloudevents/spec' } },
    '/cloudevents/spec A234',
  ],
  ['a CloudEvent without a source', { headers: { 'ce-id': 'A234' } }, null],
  [
    'a structured one',
    { type: 'application/cloudevents+json; charset=utf-8', body: { source: '/s', id: 'B1' } },
    '/s B1',
  ],
  [
    'a batch of them',
    { type: 'application/cloudevents-batch+json', body: [{ source: '/s', id: 'B1' }] },
    null,
  ],
  ['any other body', { body: { id: 'not surely of an event', event_id: 'nor this' } }, null],
])('without a provider: %s', (_, sent, id) => {
  expect(eventIdOf(null, undefined, request(sent))).toBe(id)
})

describe('a provider', () => {
  test.each(['strava', 'sendgrid'])('%s, of which no place is known, gives none', (slug) => {
    expect(
      eventIdOf(null, findProvider(slug), request({ headers: { 'webhook-id': 'x' }, body: { id: 1 } })),
    ).toBeNull()
  })

  test('gives none for the beginning of a body, and for a body that is no JSON', () => {
    expect(
      eventIdOf(null, findProvider('stripe'), request({ body: '{"id":"evt_1"', truncated: true })),
    ).toBeNull()
    expect(eventIdOf(null, findProvider('stripe'), request({ body: 'id' }))).toBeNull()
  })
})

describe('a path', () => {
  test.each<[string, Sent, string | null]>([
    ['body.a.b[1]', { body: { a: { b: [1, 'x'] } } }, 'x'],
    ['body.id', { body: 'id=one&x=2', type: 'application/x-www-form-urlencoded' }, 'one'],
    ['body.id', { body: 'id=one&id=two', type: 'application/x-www-form-urlencoded' }, null],
    ['body.id', { body: '{"id":12345678901234567890}' }, '12345678901234567890'],
    ['body.id', { body: { id: 0 } }, '0'],
    ['body.id', { body: { id: '' } }, null],
    ['body.id', { body: { id: true } }, null],
    ['body.id', { body: { id: null } }, null],
    ['body.id', { body: { id: ['x'] } }, null],
    ['body.id', { body: { id: { x: 'x' } } }, null],
    ['body.id', { body: '{"id":"a\\u0000b"}' }, null],
    ['body.id', { body: '{"id":"a\\r\\nx: y"}' }, null],
    ['body.id', { body: '{"id":"\\ud800"}' }, null],
    ['body.id', { body: '{}' }, null],
    ['body', { body: '"all of it"' }, null],
    ['headers.x-id', { headers: { 'X-ID': 'h é' } }, 'h é'],
    ['headers.x-id', {}, null],
    ['query.id', { query: 'id=a%20b&id=c' }, 'a b'],
    ['query.id', { query: 'id=%00' }, null],
  ])('%s of %p', (path, sent, id) => {
    expect(atPath(path, sent)).toBe(id)
  })

  test('alone counts, whatever the provider says', () => {
    const sent = request({ body: { id: 'evt_1' }, headers: { 'webhook-id': 'x' } })
    expect(eventIdOf(eventIdPathOf('body.other'), findProvider('stripe'), sent)).toBeNull()
  })

  test.each(['label', 'method', 'body.a[*]', 'request.id', 'nothing', 'headers', ''])('is not %p', (path) => {
    expect(parseEventIdPath(path)).toHaveProperty('problem')
    expect(eventIdPathOf(path)).toBeNull()
  })
})

describe('a long id', () => {
  test('is kept up to 200 bytes of UTF-8, and hashed beyond', () => {
    const kept = 'é'.repeat(100)
    expect(atPath('body.id', { body: { id: kept } })).toBe(kept)
    expect(atPath('body.id', { body: { id: `${kept}x` } })).toBe(digest(`${kept}x`))
    expect(atPath('body.id', { body: { id: `${kept}y` } })).toBe(digest(`${kept}y`))
    expect(storedEventId(`${kept}x`)).toBe(digest(`${kept}x`))
  })

  test('is never taken for an id that looks like its digest', () => {
    const long = 'x'.repeat(201)
    const forged = digest(long)
    expect(atPath('body.id', { body: { id: forged } })).toBe(digest(forged))
    expect(storedEventId(forged)).toBe(forged)
  })

  test('can stand in a row only as long as it is kept', () => {
    expect(isEventId('é'.repeat(100))).toBe(true)
    expect(['', 'x'.repeat(201), 'a\0', 'a\n', '\ud800'].filter(isEventId)).toEqual([])
  })
})
