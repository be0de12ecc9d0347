import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Trx } from '@creel/core'
import { z } from 'zod'
import { AlertReceiver } from '../support/alertReceiver.ts'
import type { Client } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { holdOpen } from '../support/heldWrites.ts'
import { isWaitingForLock } from '../support/lockWaits.ts'
import { wrongParts } from '../support/problems.ts'
import { startService, type TestService } from '../support/service.ts'

const PATH = '/api/v1/alert-channels'
const SLACK_SECRET = 'https://hooks.slack.com/services/T000/B0123/verysecretpart'
const WEBHOOK_SECRET = 'a signing secret of mine'

const Channel = z.looseObject({ id: z.string(), health: z.string(), consecutiveFailures: z.int() })
const Problem = z.looseObject({
  code: z.string(),
  errors: z.array(
    z.looseObject({ pointer: z.string().nullable(), parameter: z.string().nullable(), code: z.string() }),
  ),
})

let service: TestService
let receiver: AlertReceiver

beforeAll(async () => {
  receiver = await AlertReceiver.start()
  service = await startService()
})
afterAll(() => receiver.stop())

const create = (body: object, client: Client = service.alice) =>
  client.expect(client.post(PATH, body), Channel)
const webhook = (more: object = {}) =>
  create({ kind: 'webhook', name: 'Hook', settings: { url: `${receiver.url}/hook` }, ...more })

/** Kinds that a channel can subscribe to, in the order of lists. */
const KINDS = [
  'delivery.parked',
  'delivery.recovered',
  'delivery.failing',
  'delivery.working',
  'action.paused',
  'certificate.expiring',
  'certificate.renewed',
  'delivery.held',
  'delivery.released',
  'delivery.backlog',
  'delivery.drained',
  'breaker.opened',
  'breaker.closed',
  'answer.unavailable',
  'answer.available',
  'transformation.disabled',
  'watchdog.alarmed',
  'watchdog.recovered',
  'capture.rejected',
  'redaction.failed',
  'reconcile.gap',
  'action.notify',
]

describe('GET /api/v1/alert-channels/kinds', () => {
  test('lists nine kinds with credential label and fields, and never e-mail', async () => {
    const { items } = await service.alice.expect(
      service.alice.get(`${PATH}/kinds`),
      z.object({
        items: z.array(
          z.strictObject({
            kind: z.string(),
            displayName: z.string(),
            credentialLabel: z.string(),
            credentialRequired: z.boolean(),
            fields: z.array(
              z.strictObject({
                name: z.string(),
                label: z.string(),
                type: z.string(),
                required: z.boolean(),
                options: z.array(z.string()).nullable(),
                help: z.string().nullable(),
              }),
            ),
          }),
        ),
      }),
    )
    expect(items.map(({ kind }) => kind)).toEqual([
      'slack',
      'discord',
      'teams',
      'googlechat',
      'telegram',
      'pagerduty',
      'opsgenie',
      'ntfy',
      'webhook',
    ])
    expect(items.find(({ kind }) => kind === 'telegram')?.fields.map(({ name }) => name)).toEqual([
      'chatId',
      'threadId',
    ])
    expect(JSON.stringify(items.find(({ kind }) => kind === 'opsgenie'))).toContain('April 2027')
  })

  test('a plan without channels has none to add', async () => {
    const free = await service.newClient('solo')
    expect((await free.get(`${PATH}/kinds`)).body).toHaveProperty('items.length', 9)
    const none = await startService({ limits: { alertChannelsMax: 0 } })
    expect((await none.alice.get(`${PATH}/kinds`)).body).toEqual({ items: [] })
    const refused = await none.alice.post(PATH, { kind: 'nonsense' })
    expect([refused.status, Problem.partial().parse(refused.body).code]).toEqual([403, 'feature_not_in_plan'])
    await none.stop()
  })
})

describe('GET /api/v1/alert-channels/events', () => {
  test('lists the subscribable kinds, under both names', async () => {
    const events = await service.alice.get(`${PATH}/events`)
    const alias = await service.alice.get(`${PATH}/event-kinds`)
    expect(alias.body).toEqual(events.body)
    const { items } = z
      .object({ items: z.array(z.looseObject({ kind: z.string(), subscribable: z.boolean() })) })
      .parse(events.body)
    expect(items.map(({ kind }) => kind)).toEqual(KINDS)
  })
})

describe('POST /api/v1/alert-channels', () => {
  test('adds a channel: untested, on, subscribed to everything, its credential shown nowhere', async () => {
    const answer = await service.alice.post(PATH, { kind: 'slack', name: 'Ops', secret: SLACK_SECRET })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      id: expect.any(String),
      kind: 'slack',
      name: 'Ops',
      enabled: true,
      health: 'untested',
      credentialSet: true,
      credentialSetAt: expect.any(String),
      connected: true,
      destination: 'hooks.slack.com/.../B0123',
      settings: {},
      mutedUntil: null,
      events: KINDS.map((kind) => ({ kind, minSeverity: 'info' })),
      lastSuccessAt: null,
      lastFailureAt: null,
      lastError: null,
      consecutiveFailures: 0,
      createdAt: expect.any(String),
    })
    expect(answer.text).not.toContain('verysecretpart')
  })

  test('names every wrong part at once, and quotes no secret', async () => {
    const answer = await service.alice.post(PATH, {
      kind: 'webhook',
      name: '',
      secret: 'too short',
      settings: { colour: 'red', headers: { Host: 'x' } },
      events: [
        { kind: 'delivery.parked' },
        { kind: 'channel.test' },
        { kind: 'watchdog.alarmed', minSeverity: 'loud' },
      ],
      mutedUntil: 'tomorrow',
    })
    expect(wrongParts(answer)).toEqual([
      '#/name too_short',
      '#/secret too_short',
      '#/settings/colour unknown_field',
      '#/settings/headers/Host not_allowed',
      '#/settings/url required',
      '#/events/1/kind unknown_value',
      '#/events/2/minSeverity unknown_value',
      '#/mutedUntil bad_format',
    ])
    expect(answer.text).not.toContain('too short')
  })

  test('refuses unknown kinds, e-mail, missing settings and double subscriptions', async () => {
    const { alice } = service
    expect(wrongParts(await alice.post(PATH, {}))).toEqual(['#/kind required'])
    expect(wrongParts(await alice.post(PATH, { kind: 'email' }))).toEqual(['#/kind unknown_value'])
    expect(wrongParts(await alice.post(PATH, { kind: 5 }))).toEqual(['#/kind type'])
    expect(wrongParts(await alice.post(PATH, { kind: 'telegram', secret: '1:a' }))).toEqual([
      '#/settings/chatId required',
    ])
    const twice = [{ kind: 'delivery.parked' }, { kind: 'delivery.parked', minSeverity: 'error' }]
    expect(wrongParts(await alice.post(PATH, { kind: 'slack', events: twice }))).toEqual([
      '#/events/1 duplicate',
    ])
    const far = new Date(Date.now() + 31 * 86_400_000).toISOString()
    expect(wrongParts(await alice.post(PATH, { kind: 'slack', mutedUntil: far }))).toEqual([
      '#/mutedUntil out_of_range',
    ])
  })

  test('refuses our own capture URL, private addresses and plain http for credentials', async () => {
    const { alice } = service
    const endpoint = await alice.endpoint()
    expect(wrongParts(await alice.post(PATH, { kind: 'webhook', settings: { url: endpoint.url } }))).toEqual([
      '#/settings/url not_allowed',
    ])
    expect(
      wrongParts(await alice.post(PATH, { kind: 'webhook', settings: { url: 'http://10.0.0.1/x' } })),
    ).toEqual(['#/settings/url not_allowed'])
    expect(
      wrongParts(await alice.post(PATH, { kind: 'slack', secret: 'http://example.com/services/a/b/c' })),
    ).toEqual(['#/secret bad_url'])
    expect(wrongParts(await alice.post(PATH, { kind: 'slack', secret: endpoint.url }))).toEqual([
      '#/secret not_allowed',
    ])
    expect(
      wrongParts(await alice.post(PATH, { kind: 'ntfy', settings: { topic: 'a', serverUrl: 'nonsense' } })),
    ).toEqual(['#/settings/serverUrl bad_url'])
  })

  test('a kind that needs a credential may be saved without it: not connected', async () => {
    expect(await create({ kind: 'discord' })).toMatchObject({
      name: 'Discord',
      connected: false,
      credentialSet: false,
      destination: null,
    })
    expect(await create({ kind: 'ntfy', settings: { topic: 'ops' } })).toMatchObject({
      connected: true,
      destination: 'ops',
      settings: { topic: 'ops', serverUrl: 'https://ntfy.sh' },
    })
  })

  test('beyond the plan: limit_reached', async () => {
    const small = await startService({ limits: { alertChannelsMax: 1 } })
    await create({ kind: 'slack' }, small.alice)
    const answer = await small.alice.post(PATH, { kind: 'slack' })
    expect([answer.status, Problem.partial().parse(answer.body).code]).toEqual([409, 'limit_reached'])
    await small.stop()
  })
})

describe('PUT /api/v1/alert-channels/{id}', () => {
  test('changes what is named and keeps the credential', async () => {
    const { id } = await webhook({ secret: WEBHOOK_SECRET })
    const changed = await service.alice.put(`${PATH}/${id}`, {
      name: 'Renamed',
      events: [{ kind: 'delivery.parked', minSeverity: 'error' }],
      settings: { headers: { 'X-Team': 'ops' } },
    })
    expect(changed.body).toMatchObject({
      name: 'Renamed',
      credentialSet: true,
      events: [{ kind: 'delivery.parked', minSeverity: 'error' }],
      settings: { url: `${receiver.url}/hook`, headers: { 'X-Team': 'ops' } },
    })
    expect(changed.text).not.toContain(WEBHOOK_SECRET)
  })

  test('a token does not follow to another host', async () => {
    const settings = { topic: 'ops', serverUrl: `${receiver.url}/` }
    const { id } = await create({ kind: 'ntfy', secret: 'tk_of-the-owner', settings })
    const put = (body: object) => service.alice.put(`${PATH}/${id}`, body)
    const elsewhere = { serverUrl: 'http://127.0.0.1:9/' }
    expect(wrongParts(await put({ settings: elsewhere }))).toEqual(['#/secret required'])
    expect(wrongParts(await put({ settings: { serverUrl: '' } }))).toEqual(['#/secret required'])
    expect((await put({ settings: { topic: 'dev', serverUrl: `${receiver.url}/ntfy` } })).status).toBe(200)
    expect((await put({ settings: elsewhere, secret: 'tk_another' })).status).toBe(200)
    expect((await put({ settings, secret: '' })).status).toBe(200)
    expect((await put({ settings: elsewhere })).status).toBe(200)
  })

  test('also where another call has stored the token meanwhile', async () => {
    const { alice, db } = service
    const settings = { topic: 'ops', serverUrl: `${receiver.url}/` }
    const [{ id }, other] = [
      await create({ kind: 'ntfy', settings }),
      await create({ kind: 'ntfy', settings, secret: 'tk_of-the-owner' }),
    ]
    const { secret } = await db
      .selectFrom('alertChannels')
      .where('id', '=', other.id)
      .select('secret')
      .executeTakeFirstOrThrow()
    await using storing = holdOpen(db, (trx: Trx) =>
      trx.updateTable('alertChannels').set({ secret }).where('id', '=', id).execute(),
    )
    await storing.isOpen
    const call = alice.put(`${PATH}/${id}`, { settings: { serverUrl: 'http://127.0.0.1:9/' } })
    await eventually('the call, waiting for the channel', () => isWaitingForLock(db))
    await storing.release()
    expect(wrongParts(await call)).toEqual(['#/secret required'])
  })

  test('what GET answers can be put back as it is', async () => {
    const { id } = await create({ kind: 'telegram', secret: '1:abc', settings: { chatId: '@ops' } })
    const before = await service.alice.get(`${PATH}/${id}`)
    const after = await service.alice.put(`${PATH}/${id}`, before.body)
    expect([after.status, after.body]).toEqual([200, before.body])
  })

  test('all events with one severity include those of later versions; a list of some does not', async () => {
    const stored = async (id: string) =>
      await service.db
        .selectFrom('alertChannels')
        .select('events')
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
    const { id } = await webhook()
    const at = `${PATH}/${id}`
    // Kinds that are not stored are those of the version that reads the row.
    expect(await stored(id)).toEqual({ events: '"info"' })
    const events = KINDS.map((kind) => ({ kind, minSeverity: 'error' }))
    expect((await service.alice.put(at, { events })).body).toMatchObject({ events })
    expect(await stored(id)).toEqual({ events: '"error"' })
    const some = events.slice(1)
    expect((await service.alice.put(at, { events: some })).body).toMatchObject({ events: some })
    expect(await stored(id)).toEqual({ events: JSON.stringify(some) })
  })

  test('"" clears the credential, a past mute and "" unmute, [] unsubscribes', async () => {
    const soon = new Date(Date.now() + 3_600_000).toISOString()
    const { id } = await webhook({ secret: WEBHOOK_SECRET, mutedUntil: soon })
    const at = `${PATH}/${id}`
    expect((await service.alice.get(at)).body).toMatchObject({ mutedUntil: soon })
    const cleared = await service.alice.put(at, {
      secret: '',
      mutedUntil: '2020-01-01T00:00:00Z',
      events: [],
    })
    expect(cleared.body).toMatchObject({
      credentialSet: false,
      credentialSetAt: null,
      connected: true,
      mutedUntil: null,
      events: [],
    })
  })

  test('the kind cannot change', async () => {
    const { id } = await webhook()
    expect(wrongParts(await service.alice.put(`${PATH}/${id}`, { kind: 'slack' }))).toEqual([
      '#/kind not_allowed',
    ])
    expect((await service.alice.put(`${PATH}/${id}`, { kind: 'webhook' })).status).toBe(200)
  })

  test('another credential or setting makes it untested; name, events, mute and switch do not', async () => {
    const { id } = await webhook({ secret: WEBHOOK_SECRET })
    const at = `${PATH}/${id}`
    await service.alice.post(`${at}/test`)
    const health = async (body: object) => Channel.parse((await service.alice.put(at, body)).body).health
    expect(await health({ name: 'x', enabled: false, events: [], mutedUntil: '' })).toBe('verified')
    expect(await health({ secret: WEBHOOK_SECRET, settings: { url: `${receiver.url}/hook` } })).toBe(
      'verified',
    )
    expect(await health({ settings: { url: `${receiver.url}/other` } })).toBe('untested')
    await service.alice.post(`${at}/test`)
    expect(await health({ secret: 'another secret of mine' })).toBe('untested')
  })
})

describe('POST /api/v1/alert-channels/{id}/test', () => {
  test('sends a real, signed message and verifies the channel', async () => {
    const { id } = await webhook({ secret: WEBHOOK_SECRET, enabled: false })
    const count = receiver.messages.length
    const answer = await service.alice.post(`${PATH}/${id}/test`)
    expect([answer.status, answer.body]).toEqual([
      200,
      { delivered: true, detail: null, statusCode: 200, durationMs: expect.any(Number) },
    ])
    const [message] = (await receiver.received(count + 1)).slice(count)
    expect(message?.json).toMatchObject({
      event_kind: 'channel.test',
      subject_id: id,
      test: true,
      status: 'single',
    })
    expect(message?.headers['creel-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/)
    expect((await service.alice.get(`${PATH}/${id}`)).body).toMatchObject({ health: 'verified' })
  })

  test("a rejected send is 200 with the provider's words, and makes the channel failing", async () => {
    const { id } = await create({ kind: 'slack', secret: `${receiver.url}/services/T0/B0/secretsecret` })
    receiver.replies = [{ status: 400, body: 'invalid_payload for /services/T0/B0/secretsecret' }]
    const answer = await service.alice.post(`${PATH}/${id}/test`)
    receiver.replies = [{ status: 200, body: 'ok' }]
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        delivered: false,
        detail: 'invalid_payload for ***',
        statusCode: 400,
        durationMs: expect.any(Number),
      },
    ])
    const { body, text } = await service.alice.get(`${PATH}/${id}`)
    expect(body).toMatchObject({
      health: 'failing',
      consecutiveFailures: 1,
      lastError: 'invalid_payload for ***',
    })
    expect(text).not.toContain('secretsecret')
  })

  test('words that the database cannot store are shown with U+FFFD in their place, and cut at whole characters', async () => {
    const { id } = await create({ kind: 'webhook', settings: { url: `${receiver.url}/hook` } })
    receiver.replies = [{ status: 500, body: `a\0b ${'x'.repeat(295)}\u{1f600}` }]
    const answer = await service.alice.post(`${PATH}/${id}/test`)
    receiver.replies = [{ status: 200, body: 'ok' }]
    const detail = `a\ufffdb ${'x'.repeat(295)}…`
    expect(answer.body).toMatchObject({ delivered: false, detail, statusCode: 500 })
    const { body } = await service.alice.get(`${PATH}/${id}`)
    expect(body).toMatchObject({ health: 'failing', lastError: detail })
  })

  test('an address that does not answer is a result too', async () => {
    const { id } = await create({ kind: 'webhook', settings: { url: 'http://127.0.0.1:9/none' } })
    const { status, body } = await service.alice.post(`${PATH}/${id}/test`)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      delivered: false,
      statusCode: null,
      detail: expect.stringMatching(/^connect/),
    })
  })

  test('goes on when its caller hangs up, who makes no channel failing', async () => {
    const { alice } = service
    const { id } = await webhook()
    const { promise: hold, resolve: release } = Promise.withResolvers<void>()
    const before = receiver.messages.length
    receiver.replies = [{ hold }, { status: 200, body: 'ok' }]
    const hangUp = new AbortController()
    const tested = alice.post(`${PATH}/${id}/test`, undefined, { signal: hangUp.signal })
    await receiver.received(before + 1)
    hangUp.abort()
    await expect(tested).rejects.toThrow()
    // By its answer the service has noticed.
    expect((await alice.get(`${PATH}/${id}`)).body).toMatchObject({ health: 'untested' })
    release()
    const recorded = await eventually('the test in the history', async () => {
      const { items } = await alice.expect(
        alice.get(`${PATH}/deliveries?channelId=${id}`),
        z.looseObject({ items: z.array(z.looseObject({ outcome: z.string() })) }),
      )
      return items.length > 0 && items
    })
    expect(recorded).toMatchObject([{ outcome: 'delivered', statusCode: 200 }])
    expect((await alice.get(`${PATH}/${id}`)).body).toMatchObject({ health: 'verified' })
  })

  test('needs a credential', async () => {
    const { id } = await create({ kind: 'slack' })
    expect(wrongParts(await service.alice.post(`${PATH}/${id}/test`))).toEqual(['#/secret required'])
  })
})

describe('GET /api/v1/alert-channels/deliveries', () => {
  test('shows tests newest first, by channel, kind and outcome, also after the channel was deleted', async () => {
    const { id } = await webhook({ name: 'Doomed' })
    await service.alice.post(`${PATH}/${id}/test`)
    receiver.replies = [{ status: 500 }, { status: 200 }]
    await service.alice.post(`${PATH}/${id}/test`)
    expect((await service.alice.delete(`${PATH}/${id}`)).status).toBe(204)
    expect((await service.alice.get(`${PATH}/${id}`)).status).toBe(404)

    const { body } = await service.alice.get(`${PATH}/deliveries?channelId=${id}&eventKind=channel.test`)
    expect(body).toMatchObject({ totalCount: 2, page: 1, pageSize: 50, totalPages: 1 })
    expect(body).toHaveProperty('items.0', {
      id: expect.any(Number),
      at: expect.any(String),
      eventKind: 'channel.test',
      severity: 'info',
      subjectType: 'channel',
      subjectId: id,
      subjectName: 'Doomed',
      channelId: id,
      channelName: 'Doomed',
      channelKind: 'webhook',
      outcome: 'failed',
      detail: 'HTTP 500',
      statusCode: 500,
      durationMs: expect.any(Number),
      count: 1,
      emailFallback: false,
      requestId: null,
    })
    const delivered = await service.alice.get(`${PATH}/deliveries?channelId=${id}&outcome=delivered`)
    expect(delivered.body).toMatchObject({ totalCount: 1 })
  })

  test('refuses filters that mean nothing', async () => {
    const { alice } = service
    expect(wrongParts(await alice.get(`${PATH}/deliveries?eventKind=channel.tested`))).toEqual([
      '?eventKind unknown_value',
    ])
    expect(wrongParts(await alice.get(`${PATH}/deliveries?outcome=lost&channelId=1&page=0`))).toEqual(
      expect.arrayContaining(['?outcome unknown_value', '?channelId bad_format', '?page out_of_range']),
    )
  })
})

test("another workspace's channel is not there", async () => {
  const { id } = await webhook()
  const { charlie } = service
  for (const answer of [
    await charlie.get(`${PATH}/${id}`),
    await charlie.put(`${PATH}/${id}`, {}),
    await charlie.delete(`${PATH}/${id}`),
    await charlie.post(`${PATH}/${id}/test`),
  ]) {
    expect(answer.status).toBe(404)
  }
  expect((await charlie.get(`${PATH}/deliveries?channelId=${id}`)).body).toMatchObject({ totalCount: 0 })
  expect((await charlie.get(PATH)).body).toMatchObject({ totalCount: 0 })
})

test('credentials rest encrypted, and the list shows none', async () => {
  await create({ kind: 'slack', secret: SLACK_SECRET })
  const rows = await service.db.selectFrom('alertChannels').selectAll().execute()
  expect(JSON.stringify(rows)).not.toContain('verysecretpart')
  expect(rows.some(({ secret }) => secret?.includes('verysecretpart'))).toBe(false)
  const list = await service.alice.get(PATH)
  expect(list.text).toContain('hooks.slack.com/.../B0123')
  expect(list.text).not.toContain('verysecretpart')
})
