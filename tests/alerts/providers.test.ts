import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { Writable } from 'node:stream'
import { closeIncidents, openIncident } from '@creel/core/alerts'
import { pino } from 'pino'
import { z } from 'zod'
import { AlertReceiver } from '../support/alertReceiver.ts'
import { startService, type TestService } from '../support/service.ts'

const PATH = '/api/v1/alert-channels'
const SECRET = 'verysecretpart'
const EXTRA_SECRET = 'anothersecret'

const Made = z.looseObject({ id: z.string() })
const short = (max: number) => z.string().min(1).max(max)

/** A kind of channel: how it is made, what its provider accepts, and the provider's answers. */
interface Provider {
  readonly body: (url: string) => object
  /** Documented schemas of the messages to each address, by path; members that are not documented are refused. */
  readonly accepts: Readonly<Record<string, z.ZodType>>
  readonly headers?: Readonly<Record<string, string>>
  readonly yes: { readonly status: number; readonly body: string }
  readonly no: { readonly status: number; readonly body: string; readonly words: string }
}

const SlackText = z.strictObject({ type: z.literal('mrkdwn'), text: short(3000) })
const AdaptiveRun = z.strictObject({
  type: z.literal('TextRun'),
  text: z.string().min(1),
  weight: z.enum(['Lighter', 'Default', 'Bolder']).optional(),
  size: z.enum(['Default', 'Small', 'Medium', 'Large', 'ExtraLarge']).optional(),
  isSubtle: z.boolean().optional(),
})
const Uuid = z.uuid()

const PROVIDERS: Readonly<Record<string, Provider>> = {
  slack: {
    body: (url) => ({ secret: `${url}/services/T000/B0123/${SECRET}` }),
    accepts: {
      [`/services/T000/B0123/${SECRET}`]: z.strictObject({
        text: short(40_000),
        blocks: z.array(
          z.discriminatedUnion('type', [
            z.strictObject({ type: z.literal('section'), text: SlackText }),
            z.strictObject({ type: z.literal('context'), elements: z.array(SlackText).max(10) }),
          ]),
        ),
        unfurl_links: z.boolean(),
        unfurl_media: z.boolean(),
      }),
    },
    yes: { status: 200, body: 'ok' },
    no: { status: 404, body: 'no_service', words: 'no_service' },
  },
  discord: {
    body: (url) => ({ secret: `${url}/api/webhooks/1234/${SECRET}` }),
    accepts: {
      [`/api/webhooks/1234/${SECRET}`]: z.strictObject({
        embeds: z
          .array(
            z.strictObject({
              title: short(256),
              description: short(4096),
              color: z.int().min(0).max(0xffffff),
              footer: z.strictObject({ text: short(2048) }),
              timestamp: z.iso.datetime(),
            }),
          )
          .min(1)
          .max(10),
        allowed_mentions: z.strictObject({ parse: z.array(z.string()).max(0) }),
      }),
    },
    yes: { status: 204, body: '' },
    no: {
      status: 401,
      body: `{"message":"Invalid Webhook Token","code":50027}`,
      words: 'Invalid Webhook Token',
    },
  },
  teams: {
    body: (url) => ({ secret: `${url}/workflows/abc/triggers/manual/paths/invoke?sig=${SECRET}` }),
    accepts: {
      [`/workflows/abc/triggers/manual/paths/invoke?sig=${SECRET}`]: z.strictObject({
        type: z.literal('message'),
        attachments: z.tuple([
          z.strictObject({
            contentType: z.literal('application/vnd.microsoft.card.adaptive'),
            contentUrl: z.null(),
            content: z.strictObject({
              $schema: z.literal('http://adaptivecards.io/schemas/adaptive-card.json'),
              type: z.literal('AdaptiveCard'),
              version: z.literal('1.4'),
              body: z.array(
                z.strictObject({ type: z.literal('RichTextBlock'), inlines: z.array(AdaptiveRun) }),
              ),
            }),
          }),
        ]),
      }),
    },
    yes: { status: 202, body: '' },
    no: {
      status: 400,
      body: '{"error":{"code":"TriggerInputSchemaMismatch","message":"The input does not match."}}',
      words: 'The input does not match.',
    },
  },
  googlechat: {
    body: (url) => ({ secret: `${url}/v1/spaces/AAAA/messages?key=${EXTRA_SECRET}&token=${SECRET}` }),
    accepts: {
      [`/v1/spaces/AAAA/messages?key=${EXTRA_SECRET}&token=${SECRET}&messageReplyOption=REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD`]:
        z.strictObject({ text: short(4096), thread: z.strictObject({ threadKey: Uuid }) }),
      [`/v1/spaces/AAAA/messages?key=${EXTRA_SECRET}&token=${SECRET}`]: z.strictObject({ text: short(4096) }),
    },
    yes: { status: 200, body: '{"name":"spaces/AAAA/messages/1"}' },
    no: {
      status: 403,
      body: '{"error":{"code":403,"message":"The caller does not have permission","status":"PERMISSION_DENIED"}}',
      words: 'The caller does not have permission',
    },
  },
  telegram: {
    body: () => ({ secret: `123456:${SECRET}`, settings: { chatId: '-100123', threadId: 7 } }),
    accepts: {
      [`/bot123456:${SECRET}/sendMessage`]: z.strictObject({
        chat_id: z.literal('-100123'),
        message_thread_id: z.literal(7),
        text: short(4096),
        parse_mode: z.literal('HTML'),
        link_preview_options: z.strictObject({ is_disabled: z.boolean() }),
      }),
    },
    yes: { status: 200, body: '{"ok":true,"result":{"message_id":1}}' },
    no: {
      status: 400,
      body: '{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}',
      words: 'Bad Request: chat not found',
    },
  },
  pagerduty: {
    body: () => ({ secret: SECRET, settings: { region: 'eu' } }),
    accepts: {
      '/v2/enqueue': z.discriminatedUnion('event_action', [
        z.strictObject({
          routing_key: z.literal(SECRET),
          dedup_key: short(255),
          event_action: z.literal('trigger'),
          payload: z.strictObject({
            summary: short(1024),
            source: short(255),
            severity: z.enum(['critical', 'error', 'warning', 'info']),
            timestamp: z.iso.datetime(),
            component: z.string(),
            group: z.string(),
            class: z.string(),
            custom_details: z.record(z.string(), z.unknown()),
          }),
        }),
        z.strictObject({
          routing_key: z.literal(SECRET),
          dedup_key: short(255),
          event_action: z.literal('resolve'),
        }),
      ]),
    },
    yes: { status: 202, body: '{"status":"success","message":"Event processed","dedup_key":"x"}' },
    no: {
      status: 400,
      body: `{"status":"invalid event","message":"Event object is invalid","errors":["'routing_key' is invalid"]}`,
      words: "'routing_key' is invalid",
    },
  },
  opsgenie: {
    body: () => ({ secret: SECRET }),
    accepts: {
      '/v2/alerts': z.strictObject({
        message: short(130),
        alias: short(512),
        description: short(15_000),
        entity: short(512),
        source: short(100),
        priority: z.enum(['P1', 'P2', 'P3', 'P4', 'P5']),
        tags: z.array(short(50)).max(20),
        details: z.record(z.string(), z.string()),
      }),
      close: z.strictObject({ source: short(100), note: short(25_000) }),
    },
    headers: { authorization: `GenieKey ${SECRET}` },
    yes: { status: 202, body: '{"result":"Request will be processed","took":0.1,"requestId":"x"}' },
    no: {
      status: 422,
      body: '{"message":"Key format is not valid!","took":0.001,"requestId":"x"}',
      words: 'Key format is not valid!',
    },
  },
  ntfy: {
    body: (url) => ({ secret: SECRET, settings: { topic: 'ops', serverUrl: url } }),
    accepts: {
      '/': z.strictObject({
        topic: z.literal('ops'),
        title: short(250),
        message: short(4096),
        priority: z.int().min(1).max(5),
        tags: z.array(z.string()),
      }),
    },
    headers: { authorization: `Bearer ${SECRET}` },
    yes: { status: 200, body: '{"id":"x","event":"message"}' },
    no: {
      status: 403,
      body: '{"code":40301,"http":403,"error":"forbidden","link":"https://ntfy.sh/docs"}',
      words: 'forbidden',
    },
  },
  webhook: {
    body: (url) => ({
      secret: `${SECRET}-and-more`,
      settings: { url: `${url}/in`, headers: { 'X-Team': 'ops' } },
    }),
    accepts: {
      '/in': z.strictObject({
        id: Uuid,
        event_kind: z.string(),
        severity: z.enum(['info', 'warning', 'error', 'critical']),
        incident_id: Uuid.nullable(),
        status: z.enum(['open', 'closed', 'single']),
        title: z.string(),
        message: z.string(),
        subject_type: z.string(),
        subject_id: Uuid,
        subject_name: z.string(),
        endpoint_id: Uuid.nullable(),
        endpoint_name: z.string().nullable(),
        request_id: z.int().nullable(),
        count: z.int(),
        opened_at: z.iso.datetime().nullable(),
        closed_at: z.iso.datetime().nullable(),
        occurred_at: z.iso.datetime(),
        workspace_name: z.string(),
        test: z.boolean(),
      }),
    },
    headers: { 'x-team': 'ops', 'user-agent': 'creel/0.0.0-test' },
    yes: { status: 200, body: '' },
    no: { status: 400, body: 'not today', words: 'not today' },
  },
}

let service: TestService
let receiver: AlertReceiver
const logged: string[] = []

beforeAll(async () => {
  receiver = await AlertReceiver.start()
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged.push(String(chunk))
      done()
    },
  })
  service = await startService({
    alertApiUrls: { telegram: receiver.url, pagerduty: receiver.url, opsgenie: receiver.url },
    log: pino({ level: 'trace' }, sink),
  })
})
afterAll(() => receiver.stop())

/** Checks each message since `from` against the provider's documentation of its address. */
function checked({ accepts, headers }: Provider, from: number): void {
  for (const message of receiver.messages.slice(from)) {
    const address = message.target.endsWith('/close?identifierType=alias') ? 'close' : message.target
    const shape = accepts[address]
    if (shape === undefined) throw new Error(`A message went to ${message.target}.`)
    shape.parse(message.json)
    expect(message.method).toBe('POST')
    expect(message.headers['content-type']).toStartWith('application/json')
    expect(message.headers).toMatchObject({ ...headers })
  }
}

describe('every kind of channel', () => {
  for (const [kind, provider] of Object.entries(PROVIDERS)) {
    test(`${kind}: test, opening and closing alert have the documented shape; a refusal is told in its words`, async () => {
      const client = await service.newClient()
      const created = await client.post(PATH, { kind, name: kind, ...provider.body(receiver.url) })
      const { id } = Made.parse(created.body)
      const from = receiver.messages.length
      receiver.replies = [provider.yes]

      const tested = await client.post(`${PATH}/${id}/test`)
      expect(tested.body).toMatchObject({ delivered: true, statusCode: provider.yes.status, detail: null })
      const subject = { id: randomUUID(), name: 'Billing <b>&' }
      await service.db.transaction().execute((trx) =>
        openIncident(service.running.services, trx, {
          kind: 'delivery.parked',
          workspaceId: client.workspaceId,
          subject,
          endpoint: { id: randomUUID(), name: 'stripe-ci' },
          requestId: 90117,
          reason: 'http_503',
        }),
      )
      await receiver.received(from + 2)
      await service.db.transaction().execute((trx) =>
        closeIncidents(service.running.services, trx, {
          kind: 'delivery.parked',
          subjectIds: [subject.id],
        }),
      )
      await receiver.received(from + 3)
      checked(provider, from)

      receiver.replies = [{ ...provider.no, body: provider.no.body.replace('took', `${SECRET}`) }]
      const refused = await client.post(`${PATH}/${id}/test`)
      expect(refused.status).toBe(200)
      expect(refused.body).toMatchObject({
        delivered: false,
        statusCode: provider.no.status,
        detail: provider.no.words,
      })
      const shown = [created, refused, await client.get(PATH), await client.get(`${PATH}/deliveries`)]
      for (const { text } of shown) {
        expect(text).not.toContain(SECRET)
        expect(text).not.toContain(EXTRA_SECRET)
      }
    })
  }

  test('no secret was logged', () => {
    expect(logged.length).toBeGreaterThan(0)
    expect(logged.join('')).not.toContain(SECRET)
    expect(logged.join('')).not.toContain(EXTRA_SECRET)
  })
})

describe('after a downgrade', () => {
  test('channels beyond the new number are kept, can be edited, and their sends are suppressed', async () => {
    const client = await service.newClient('team')
    const make = async (name: string) =>
      Made.parse(
        (await client.post(PATH, { kind: 'webhook', name, settings: { url: `${receiver.url}/in` } })).body,
      ).id
    receiver.replies = [{ status: 200 }]
    await make('first')
    await make('second')
    const third = await make('third')
    await service.operator.workspaces.setPlan({ workspace: client.workspaceId, plan: 'solo' })

    expect((await client.put(`${PATH}/${third}`, { name: 'still mine' })).body).toMatchObject({
      enabled: true,
    })
    expect((await client.post(`${PATH}/${third}/test`)).body).toMatchObject({ delivered: false })
    expect((await client.post(PATH, { kind: 'slack' })).status).toBe(409)
    const { body } = await client.get(`${PATH}/deliveries?channelId=${third}`)
    expect(body).toMatchObject({
      totalCount: 1,
      items: [{ outcome: 'suppressed', channelName: 'still mine' }],
    })
    await service.operator.workspaces.setPlan({ workspace: client.workspaceId, plan: 'team' })
    expect((await client.post(`${PATH}/${third}/test`)).body).toMatchObject({ delivered: true })
  })
})
