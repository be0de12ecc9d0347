import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { SEVERITIES } from '../../alerts/events.ts'
import type { Alert } from '../../alerts/find.ts'
import { creelSignature } from '../../engine/signing/index.ts'
import { type ChannelSettings, readSettings } from '../settings.ts'
import { CHANNEL_KIND_NAMES, CHANNEL_KINDS, type ChannelKindName, channelKind } from './index.ts'

const now = new Date('2026-11-21T10:00:00.000Z')
const deadLetters: Alert = {
  id: '0d2b8f9e-6a70-4b8e-9f52-7d1d9a4b1c55',
  kind: 'delivery.parked',
  severity: 'error',
  status: 'open',
  incidentId: 'c1b7a0de-93c2-4b9a-8d3e-11f0a9c0b7aa',
  title: 'Deliveries to <Billing> are dead letters',
  message: '3 deliveries ran out of retries; last error http_503.',
  subject: { type: 'action', id: '5b1c2f6e-0d6b-4d0c-8a53-0b5a2f6f2f10', name: '<Billing>' },
  endpoint: { id: '0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33', name: 'stripe-ci' },
  requestId: 90117,
  count: 3,
  openedAt: new Date('2026-11-21T09:55:00.000Z'),
  closedAt: null,
  occurredAt: now,
  workspaceName: 'Acme',
  isTest: false,
}
const recovered: Alert = { ...deadLetters, kind: 'delivery.recovered', status: 'closed', closedAt: now }
const notify: Alert = {
  ...deadLetters,
  kind: 'action.notify',
  status: 'single',
  incidentId: null,
  severity: 'info',
  message: '*Invoice* in_1 &lt;42&gt;',
}

interface Example {
  readonly secret: string | null
  readonly settings: ChannelSettings
  readonly destination: string
}

const EXAMPLES: { readonly [Kind in ChannelKindName]: Example } = {
  slack: {
    secret: 'https://hooks.slack.com/services/T000/B0123/XXXXXXXXXXXX',
    settings: {},
    destination: 'hooks.slack.com/.../B0123',
  },
  discord: {
    secret: 'https://discord.com/api/webhooks/1234/tokentokentoken',
    settings: {},
    destination: 'discord.com/.../1234',
  },
  teams: {
    secret: 'https://prod-1.westeurope.logic.azure.com/workflows/abc/triggers/manual?sig=secretsecret',
    settings: {},
    destination: 'prod-1.westeurope.logic.azure.com',
  },
  googlechat: {
    secret: 'https://chat.googleapis.com/v1/spaces/AAAA/messages?key=keykeykey&token=tokentoken',
    settings: {},
    destination: 'spaces/AAAA',
  },
  telegram: {
    secret: '123456:tokentokentoken',
    settings: { chatId: '-100123', threadId: 7 },
    destination: '-100123',
  },
  pagerduty: { secret: 'R0123456789', settings: { region: 'eu' }, destination: 'PagerDuty eu' },
  opsgenie: { secret: 'eb243592-faa2', settings: { region: 'us' }, destination: 'Opsgenie us' },
  ntfy: {
    secret: 'tk_tokentoken',
    settings: { topic: 'ops', serverUrl: 'https://ntfy.example.test' },
    destination: 'ops',
  },
  webhook: {
    secret: 'a'.repeat(16),
    settings: { url: 'https://alerts.example.test/in?key=1', headers: { 'X-Team': 'ops' } },
    destination: 'alerts.example.test/in',
  },
}

const send = (kind: ChannelKindName, alert: Alert) => {
  const { method, url, headers, body } = channelKind(kind).build(alert, EXAMPLES[kind], { now, apiUrls: {} })
  return { method, url, headers, body: JSON.parse(body) }
}

describe('every kind', () => {
  for (const name of CHANNEL_KIND_NAMES) {
    const kind = channelKind(name)
    const { secret, settings, destination } = EXAMPLES[name]

    test(`${name} shows where it goes and gives no secret away`, () => {
      expect(kind.destination({ secret, settings })).toBe(destination)
    })

    test(`${name} takes its own settings`, () => {
      expect(readSettings(kind.fields, settings, {}).issues).toEqual([])
    })

    test(`${name} sends the credential where it belongs and nowhere else`, () => {
      for (const alert of [deadLetters, recovered, notify]) {
        const { url, headers, body } = send(name, alert)
        const text = JSON.stringify(body)
        if (kind.credential === 'url') expect(url).toStartWith(secret ?? '')
        if (name !== 'pagerduty') expect(text).not.toContain(secret ?? '')
        if (kind.credential === 'signingSecret') expect(JSON.stringify(headers)).not.toContain(secret ?? '')
      }
    })

    test(`${name} tells title, message and severity whatever they hold`, () => {
      fc.assert(
        fc.property(fc.string({ unit: 'binary' }), fc.constantFrom(...SEVERITIES), (text, severity) => {
          const alert = { ...deadLetters, title: text, message: text.repeat(50), severity }
          const built = kind.build(alert, { secret, settings }, { now, apiUrls: {} })
          expect(() => JSON.parse(built.body)).not.toThrow()
        }),
        { numRuns: 50 },
      )
    })

    test(`${name} reads 503 as passing, 404 as permanent, 429 as passing`, () => {
      expect(kind.read({ statusCode: 503, body: '' })).toEqual({
        delivered: false,
        permanent: false,
        detail: 'HTTP 503',
      })
      expect(kind.read({ statusCode: 404, body: 'gone for good' })).toMatchObject({ permanent: true })
      expect(kind.read({ statusCode: 429, body: '{}' })).toMatchObject({ delivered: false, permanent: false })
    })
  }
})

describe('slack', () => {
  test('posts text and blocks with only & < > escaped', () => {
    const { url, body } = send('slack', deadLetters)
    expect(url).toBe('https://hooks.slack.com/services/T000/B0123/XXXXXXXXXXXX')
    expect(body.text).toStartWith('Deliveries to &lt;Billing&gt; are dead letters: 3 deliveries')
    expect(body.blocks[0]).toEqual({
      type: 'section',
      text: { type: 'mrkdwn', text: '*Deliveries to &lt;Billing&gt; are dead letters*' },
    })
  })

  test('a notify message goes out as its template made it', () => {
    expect(send('slack', notify).body.text).toBe('*Invoice* in_1 &lt;42&gt;')
  })

  test("quotes Slack's own words", () => {
    expect(CHANNEL_KINDS.slack.read({ statusCode: 400, body: 'invalid_payload' })).toEqual({
      delivered: false,
      permanent: true,
      detail: 'invalid_payload',
    })
    expect(CHANNEL_KINDS.slack.read({ statusCode: 200, body: 'ok' }).delivered).toBe(true)
  })

  test('blocks stay within 3 000 characters after escaping', () => {
    const { body } = send('slack', { ...deadLetters, title: '&'.repeat(5000), message: '<'.repeat(5000) })
    for (const block of body.blocks) expect(block.text?.text.length ?? 0).toBeLessThanOrEqual(3000)
  })
})

describe('discord', () => {
  test('sends an embed that mentions nobody', () => {
    const { body } = send('discord', deadLetters)
    expect(body.allowed_mentions).toEqual({ parse: [] })
    expect(body.embeds).toHaveLength(1)
    expect(body.embeds[0]).toMatchObject({ title: deadLetters.title, description: deadLetters.message })
  })

  test("quotes Discord's message", () => {
    const answer = { statusCode: 404, body: '{"message":"Unknown Webhook","code":10015}' }
    expect(CHANNEL_KINDS.discord.read(answer).detail).toBe('Unknown Webhook')
    expect(CHANNEL_KINDS.discord.read({ statusCode: 204, body: '' }).delivered).toBe(true)
  })
})

describe('teams', () => {
  test('sends one Adaptive Card', () => {
    const { body } = send('teams', deadLetters)
    expect(body.type).toBe('message')
    expect(body.attachments[0].contentType).toBe('application/vnd.microsoft.card.adaptive')
    expect(body.attachments[0].content).toMatchObject({ type: 'AdaptiveCard', version: '1.4' })
    expect(JSON.stringify(body)).toContain(deadLetters.message)
  })

  test('the longest notify message stays under 28 KB', () => {
    const { markup } = CHANNEL_KINDS.teams
    fc.assert(
      fc.property(fc.constantFrom('€', '\n', '\n€', '\u0001', '\ud800', '"', '😀'), (unit) => {
        const text = markup.escape(unit.repeat(markup.maxCharacters).slice(0, markup.maxCharacters))
        const { body } = send('teams', { ...notify, message: text })
        expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThanOrEqual(28 * 1024)
      }),
    )
  })

  test('an error told with 200 is an error', () => {
    const answer = { statusCode: 200, body: 'Webhook message delivery failed with error: HTTP error 429' }
    expect(CHANNEL_KINDS.teams.read(answer).delivered).toBe(false)
    expect(CHANNEL_KINDS.teams.read({ statusCode: 202, body: '' }).delivered).toBe(true)
  })
})

describe('googlechat', () => {
  test('keeps the credential of the address and threads an incident', () => {
    const { url, body } = send('googlechat', deadLetters)
    const query = new URL(url).searchParams
    expect(query.get('key')).toBe('keykeykey')
    expect(query.get('token')).toBe('tokentoken')
    expect(query.get('messageReplyOption')).toBe('REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD')
    expect(body.thread).toEqual({ threadKey: deadLetters.incidentId })
    expect(body.text).toContain(deadLetters.message)
  })

  test('text from outside cannot mention everybody', () => {
    const { body } = send('googlechat', { ...deadLetters, message: 'x <users/all>' })
    expect(body.text).not.toContain('<users/all>')
  })

  test("quotes Google's message", () => {
    const body = '{"error":{"code":400,"message":"Message cannot be empty.","status":"INVALID_ARGUMENT"}}'
    expect(CHANNEL_KINDS.googlechat.read({ statusCode: 400, body }).detail).toBe('Message cannot be empty.')
  })
})

describe('telegram', () => {
  test('calls sendMessage with HTML', () => {
    const { url, body } = send('telegram', deadLetters)
    expect(url).toBe('https://api.telegram.org/bot123456:tokentokentoken/sendMessage')
    expect(body).toMatchObject({ chat_id: '-100123', message_thread_id: 7, parse_mode: 'HTML' })
    expect(body.text).toStartWith('<b>Deliveries to &lt;Billing&gt; are dead letters</b>\n3 deliveries')
  })

  test('quotes the description, and does not trust a 200 without ok', () => {
    const body = '{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}'
    expect(CHANNEL_KINDS.telegram.read({ statusCode: 400, body }).detail).toBe('Bad Request: chat not found')
    expect(CHANNEL_KINDS.telegram.read({ statusCode: 200, body }).delivered).toBe(false)
    expect(CHANNEL_KINDS.telegram.read({ statusCode: 200, body: '{"ok":true}' }).delivered).toBe(true)
  })
})

describe('pagerduty', () => {
  test('triggers and resolves under the id of the incident', () => {
    const { url, body } = send('pagerduty', deadLetters)
    expect(url).toBe('https://events.eu.pagerduty.com/v2/enqueue')
    expect(body).toMatchObject({
      routing_key: 'R0123456789',
      event_action: 'trigger',
      dedup_key: deadLetters.incidentId,
      payload: { severity: 'error', source: 'stripe-ci' },
    })
    expect(send('pagerduty', recovered).body).toEqual({
      routing_key: 'R0123456789',
      event_action: 'resolve',
      dedup_key: deadLetters.incidentId,
    })
  })

  test('quotes the errors', () => {
    const body = '{"status":"invalid event","message":"Event object is invalid","errors":["bad routing_key"]}'
    expect(CHANNEL_KINDS.pagerduty.read({ statusCode: 400, body })).toEqual({
      delivered: false,
      permanent: true,
      detail: 'bad routing_key',
    })
  })
})

describe('opsgenie', () => {
  test('creates and closes under the id of the incident', () => {
    const { url, headers, body } = send('opsgenie', { ...deadLetters, title: 'x'.repeat(200) })
    expect(url).toBe('https://api.opsgenie.com/v2/alerts')
    expect(headers.authorization).toBe('GenieKey eb243592-faa2')
    expect(body).toMatchObject({ alias: deadLetters.incidentId, priority: 'P2' })
    expect(body.message).toHaveLength(130)
    expect(send('opsgenie', recovered).url).toBe(
      `https://api.opsgenie.com/v2/alerts/${deadLetters.incidentId}/close?identifierType=alias`,
    )
  })

  test('severities become priorities', () => {
    const priority = (severity: Alert['severity']) =>
      send('opsgenie', { ...deadLetters, severity }).body.priority
    expect(SEVERITIES.map(priority)).toEqual(['P5', 'P3', 'P2', 'P1'])
  })
})

describe('ntfy', () => {
  test('publishes as JSON to the root of the server', () => {
    const { url, headers, body } = send('ntfy', deadLetters)
    expect(url).toBe('https://ntfy.example.test')
    expect(headers.authorization).toBe('Bearer tk_tokentoken')
    expect(body).toMatchObject({ topic: 'ops', title: deadLetters.title, priority: 4 })
    expect(body.message).toStartWith(deadLetters.message)
  })

  test('no message is over 4 096 bytes', () => {
    const { markup } = CHANNEL_KINDS.ntfy
    const { body } = send('ntfy', { ...notify, message: '€'.repeat(markup.maxCharacters) })
    expect(Buffer.byteLength(body.message)).toBeLessThanOrEqual(4096)
    const long = send('ntfy', { ...deadLetters, message: '€'.repeat(5000), workspaceName: '€'.repeat(1000) })
    expect(Buffer.byteLength(long.body.message)).toBeLessThanOrEqual(4096)
  })
})

describe('webhook', () => {
  test('sends the payload of the contract, signed', () => {
    const { url, headers, body } = send('webhook', deadLetters)
    expect(url).toBe('https://alerts.example.test/in?key=1')
    expect(headers['X-Team']).toBe('ops')
    expect(headers['creel-signature']).toBe(
      creelSignature(Buffer.from(JSON.stringify(body)), ['a'.repeat(16)], now),
    )
    expect(body).toEqual({
      id: deadLetters.id,
      event_kind: 'delivery.parked',
      severity: 'error',
      incident_id: deadLetters.incidentId,
      status: 'open',
      title: deadLetters.title,
      message: deadLetters.message,
      subject_type: 'action',
      subject_id: deadLetters.subject.id,
      subject_name: '<Billing>',
      endpoint_id: '0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33',
      endpoint_name: 'stripe-ci',
      request_id: 90117,
      count: 3,
      opened_at: '2026-11-21T09:55:00.000Z',
      closed_at: null,
      occurred_at: '2026-11-21T10:00:00.000Z',
      workspace_name: 'Acme',
      test: false,
    })
  })
})
