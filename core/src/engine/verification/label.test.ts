import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { CapturedRequest } from '../message/capturedRequest.ts'
import { findProvider, PROVIDERS } from '../providers/index.ts'
import { labelOf } from './label.ts'

interface Sent {
  readonly headers?: readonly (readonly [string, string])[]
  readonly body?: string
  readonly type?: string | null
  readonly truncated?: boolean
}

function request({
  headers = [],
  body = '',
  type = 'application/json',
  truncated = false,
}: Sent): CapturedRequest {
  return {
    ...{ endpointId: '', receivedAt: new Date(), method: 'POST', path: '', queryString: null, ip: null },
    headers: headers.map(([name, value]) => [name, Buffer.from(value).toString('latin1')] as const),
    contentType: type,
    body: Buffer.from(body),
    sizeBytes: body.length,
    bodyTruncated: truncated,
  }
}

const FORM = 'application/x-www-form-urlencoded'
const jwt = `e30.${Buffer.from(JSON.stringify({ data: '{"eventType":"app.installed"}' })).toString('base64url')}.x`

describe("by the provider's own place", () => {
  test.each<[string, Sent, string | null]>([
    ['github', { headers: [['x-github-event', 'push']] }, 'push'],
    ['stripe', { body: '{"type":"invoice.paid"}' }, 'invoice.paid'],
    ['stripe', { body: '{"type":"invoice.paid"}', type: 'text/plain' }, 'invoice.paid'],
    [
      'adyen',
      { body: '{"notificationItems":[{"NotificationRequestItem":{"eventCode":"REFUND"}}]}' },
      'REFUND',
    ],
    ['sendgrid', { body: '[{"event":"bounce"}]' }, 'bounce'],
    ['mailgun', { body: '{"event-data":{"event":"opened"}}' }, 'opened'],
    ['mailgun', { body: 'event=opened', type: FORM }, 'opened'],
    ['slack', { body: '{"type":"event_callback","event":{"type":"message"}}' }, 'message'],
    ['slack', { body: 'command=%2Fdeploy', type: FORM }, '/deploy'],
    [
      'slack',
      { body: `payload=${encodeURIComponent('{"type":"block_actions"}')}`, type: FORM },
      'block_actions',
    ],
    ['mandrill', { body: `mandrill_events=${encodeURIComponent('[{"event":"send"}]')}`, type: FORM }, 'send'],
    [
      'dropbox-sign',
      {
        body: '--b\r\nContent-Disposition: form-data; name="json"\r\n\r\n{"event":{"event_type":"sent"}}\r\n--b--',
        type: 'multipart/form-data; boundary=b',
      },
      'sent',
    ],
    [
      'braintree',
      { body: `bt_payload=${encodeURIComponent(btoa('<n><kind>check</kind></n>'))}`, type: FORM },
      'check',
    ],
    ['telegram', { body: '{"update_id":1,"message":{}}' }, 'message'],
    ['x', { body: '{"for_user_id":"1","tweet_create_events":[]}' }, 'tweet_create_events'],
    ['wix', { body: jwt, type: 'text/plain' }, 'app.installed'],
    ['dropbox', { body: '{"type":"no place for it"}' }, null],
    ['discord', { body: '{"type":1}' }, null],
    ['stripe', { headers: [['X-GitHub-Event', 'push']], body: '{}' }, null],
    ['stripe', { body: '{"type":"x"', truncated: true }, null],
  ])('%s', (slug, sent, label) => {
    expect(labelOf(findProvider(slug), request(sent))).toBe(label)
  })
})

describe('without a provider', () => {
  test.each<[Sent, string | null]>([
    [
      {
        headers: [
          ['ce-type', 'b'],
          ['X-Event-Type', 'a'],
        ],
      },
      'a',
    ],
    [{ headers: [['X-Shopify-Topic', 'orders/create']], body: '{"type":"t"}' }, 'orders/create'],
    [{ body: '{"event":"e","type":5}' }, 'e'],
    [{ body: '{"event_type":"et"}', type: 'application/cloudevents+json' }, 'et'],
    [{ body: 'type=t', type: FORM }, 't'],
    [{ body: '{"type":"t"}', type: 'text/plain' }, 't'],
    [{ body: '{"type":"t"}', type: 'application/xml' }, null],
    [{ headers: [['X-Event-Type', 'x'.repeat(201)]], body: '{"type":"t"}' }, 't'],
    [{ headers: [['X-Event-Type', 'é'.repeat(200)]] }, 'é'.repeat(200)],
    [{ body: JSON.stringify({ type: '🪣'.repeat(200) }) }, '🪣'.repeat(200)],
    [{ body: JSON.stringify({ type: '🪣'.repeat(201) }) }, null],
    [{ body: '{"type":""}' }, null],
    [{ body: '[1]' }, null],
    [{ body: '{"type":"a\\u0000","event":"\\ud800","event_type":"stored"}' }, 'stored'],
  ])('%p is %p', (sent, label) => {
    expect(labelOf(undefined, request(sent))).toBe(label)
  })
})

test('a label is a text of 1 to 200 characters or null, whatever arrives', () => {
  const provider = fc.option(fc.constantFrom(...PROVIDERS), { nil: undefined })
  const body = fc.oneof(fc.json(), fc.string({ unit: 'binary' }), fc.webQueryParameters())
  const type = fc.option(fc.constantFrom(FORM, 'application/json', 'multipart/form-data; boundary=b'))
  fc.assert(
    fc.property(provider, body, type, (provider, body, type) => {
      const label = labelOf(provider, request({ body, type }))
      if (label !== null) expect(label !== '' && [...label].length <= 200).toBe(true)
    }),
    { numRuns: 500 },
  )
})
