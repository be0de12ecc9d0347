import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { expectCountersEqualRows } from '../retention/support.ts'
import { AlertReceiver } from '../support/alertReceiver.ts'
import type { Client, TestEndpoint } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { holdUpWrites } from '../support/heldWrites.ts'
import { startService, type TestService } from '../support/service.ts'

const PATH = '/api/v1/alert-channels'

const Made = z.looseObject({ id: z.string() })
const Attempt = z.looseObject({
  id: z.int(),
  state: z.string(),
  kind: z.string(),
  error: z.string().nullable(),
  url: z.string(),
  nextAttemptAt: z.string().nullable(),
})
const Attempts = z.looseObject({ items: z.array(Attempt) })

let service: TestService
/** Each test has its own workspace. */
let client: Client
let receiver: AlertReceiver

beforeAll(async () => {
  service = await startService()
})
beforeEach(async () => {
  client = await service.newClient()
  receiver = await AlertReceiver.start()
})
afterEach(() => receiver.stop())

const channel = async (body: object = {}) =>
  (
    await client.expect(
      client.post(PATH, {
        kind: 'webhook',
        name: 'Hook',
        settings: { url: `${receiver.url}/hook` },
        ...body,
      }),
      Made,
    )
  ).id

const notify = (endpoint: TestEndpoint, alertChannelId: string, more: object = {}) =>
  endpoint.client.expect(
    endpoint.client.post(endpoint.at('/actions'), { kind: 'notify', name: 'Tell', alertChannelId, ...more }),
    Made,
  )

/** Interval of polling. Calls of the API count against its budget. */
const API_POLL_MS = 50

/** The only attempt of the endpoint, once it is in one of these states. */
async function attempt(endpoint: TestEndpoint, ...states: string[]) {
  return await eventually(
    `an attempt that is ${states.join(' or ')}`,
    async () => {
      const { items } = await endpoint.client.expect(
        endpoint.client.get(endpoint.at('/deliveries')),
        Attempts,
      )
      const [only] = items
      if (only === undefined || !states.includes(only.state)) return
      expect(items).toHaveLength(1)
      return only
    },
    { every: API_POLL_MS },
  )
}

describe('a notify action', () => {
  test('tells its channel what its template says of the request, whatever the channel subscribes to', async () => {
    const endpoint = await client.endpoint({ name: 'stripe-ci' })
    const id = await channel({ events: [] })
    await notify(endpoint, id, {
      messageTemplate: 'Invoice {{body.data.id}}: {{ body.data.amount }}{{body.none}}',
    })
    const { id: requestId } = await endpoint.capture({ body: '{"data":{"id":"in_1","amount":12.5}}' })

    const [message] = await receiver.received(1)
    expect(message?.json).toMatchObject({
      event_kind: 'action.notify',
      severity: 'info',
      status: 'single',
      incident_id: null,
      title: 'Tell',
      message: 'Invoice in_1: 12.5',
      endpoint_name: 'stripe-ci',
      request_id: requestId,
      subject_name: 'Tell',
    })
    const row = await attempt(endpoint, 'Succeeded')
    expect(row).toMatchObject({
      kind: 'notify',
      error: null,
      statusCode: 200,
      attemptNumber: 1,
      trigger: 'capture',
      url: expect.stringMatching(/^127\.0\.0\.1:\d+\/hook$/),
    })
    const { body } = await client.get(`${PATH}/deliveries?eventKind=action.notify`)
    expect(body).toMatchObject({
      totalCount: 1,
      items: [{ subjectName: 'Tell', channelId: id, outcome: 'delivered', requestId }],
    })
  })

  test('escapes values for the target, and leaves its own text alone', async () => {
    const endpoint = await client.endpoint()
    const id = await channel({
      kind: 'slack',
      secret: `${receiver.url}/services/T0/B0/x`,
      settings: {},
    })
    await notify(endpoint, id, { messageTemplate: '*New*: <https://x.test|{{body.name}}>' })
    await endpoint.capture({ body: '{"name":"<!channel> & friends"}' })
    const [message] = await receiver.received(1)
    expect(message?.json).toMatchObject({
      text: '*New*: <https://x.test|&lt;!channel&gt; &amp; friends>',
    })
  })

  test('tells values that the database cannot store, with U+FFFD in their place', async () => {
    const endpoint = await client.endpoint()
    await notify(endpoint, await channel(), { messageTemplate: 'By {{body.name}} of {{body.shop}}' })
    await endpoint.capture({ body: '{"name":"a\\u0000b","shop":"c\\ud83d"}' })
    const [message] = await receiver.received(1)
    expect(message?.json).toMatchObject({ message: 'By a\ufffdb of c\ufffd' })
    expect(await attempt(endpoint, 'Succeeded')).toMatchObject({ error: null })
  })

  test('cuts the message to what the provider takes', async () => {
    const endpoint = await client.endpoint()
    const id = await channel({
      kind: 'discord',
      secret: `${receiver.url}/api/webhooks/1/x`,
      settings: {},
    })
    receiver.replies = [{ status: 204 }]
    await notify(endpoint, id, { messageTemplate: '{{body}}'.repeat(6) })
    await endpoint.capture({ body: 'x'.repeat(600), headers: { 'Content-Type': 'text/plain' } })
    const [message] = await receiver.received(1)
    const { content } = z.looseObject({ content: z.string() }).parse(message?.json)
    expect(content).toHaveLength(2000)
    expect(message?.json).toMatchObject({ allowed_mentions: { parse: [] } })
  })

  test('runs only where its condition matches', async () => {
    const endpoint = await client.endpoint()
    await notify(endpoint, await channel(), {
      condition: { path: 'body.type', op: 'eq', value: 'invoice.paid' },
    })
    expect((await endpoint.capture({ body: '{"type":"other"}' })).state).toBe('Skipped')
    await endpoint.capture({ body: '{"type":"invoice.paid"}' })
    expect(await receiver.received(1)).toHaveLength(1)
    await attempt(endpoint, 'Succeeded')
  })

  test('a failed send finishes its row; further attempts update the same row; it is never a dead letter', async () => {
    const endpoint = await client.endpoint()
    await notify(endpoint, await channel())
    receiver.replies = [{ status: 503, body: 'later' }, { status: 200 }]
    await endpoint.capture()
    const failed = await attempt(endpoint, 'Failed')
    expect(failed).toMatchObject({ error: 'http_503: later', nextAttemptAt: expect.any(String) })
    await service.clock.advance(32_000)
    const succeeded = await attempt(endpoint, 'Succeeded')
    expect(succeeded).toMatchObject({ id: failed.id, error: null, nextAttemptAt: null })
    // The row counts once, at its present length.
    await expectCountersEqualRows(service, endpoint.id)
  })

  test('after its last try it is Failed, not DeadLetter, and raises no incident', async () => {
    const endpoint = await client.endpoint()
    await notify(endpoint, await channel())
    receiver.replies = [{ status: 410, body: 'gone' }]
    await endpoint.capture()
    expect(await attempt(endpoint, 'Failed')).toMatchObject({ nextAttemptAt: null })
    const { workspaceId } = client
    const incidents = service.db.selectFrom('incidents').where('workspaceId', '=', workspaceId).selectAll()
    expect(await incidents.execute()).toEqual([])
  })

  test('whose channel is off, unconfigured or deleted is Errored and says so; it stays on', async () => {
    const off = await channel()
    const deleted = await channel()
    const cases = [
      { id: off, spoil: () => client.put(`${PATH}/${off}`, { enabled: false }) },
      { id: deleted, spoil: () => client.delete(`${PATH}/${deleted}`) },
      { id: await channel({ kind: 'slack', settings: {} }), spoil: async () => {} },
    ]
    for (const { id, spoil } of cases) {
      const endpoint = await client.endpoint()
      const action = await notify(endpoint, id)
      await spoil()
      await endpoint.capture()
      const row = await attempt(endpoint, 'Errored')
      expect(row.error).toStartWith('channel_unavailable')
      const { body } = await client.get(endpoint.at('/actions'))
      expect(body).toMatchObject({ actions: [{ id: action.id, isActive: true, channelUnavailable: true }] })
    }
    expect(receiver.messages).toEqual([])
  })

  test('whose channel is off ends with the look that takes it: nothing is left to be lost', async () => {
    const endpoint = await client.endpoint()
    const id = await channel()
    await notify(endpoint, id)
    await client.put(`${PATH}/${id}`, { enabled: false })
    await using _ = await holdUpWrites(service.db, 'update on delivery_attempts', "old.state = 'Pending'")
    await endpoint.capture()
    expect(await attempt(endpoint, 'Errored', 'Pending')).toMatchObject({
      state: 'Errored',
      error: 'channel_unavailable',
      finishedAt: expect.any(String),
      durationMs: 0,
      nextAttemptAt: null,
    })
    await expectCountersEqualRows(service, endpoint.id)
    const { body } = await client.get(endpoint.at('/stats'))
    expect(body).toMatchObject({ backlog: { pendingCount: 0, retryingCount: 0, parkedCount: 0 } })
  })

  test('that is switched off while a look takes its message keeps it until it is on again', async () => {
    const endpoint = await client.endpoint()
    const { id } = await notify(endpoint, await channel())
    const at = endpoint.at(`/actions/${id}`)
    const held = await holdUpWrites(service.db, 'update on deliveries', "new.flow_state = 'sending'")
    await endpoint.capture()
    await held.arrived()
    expect((await client.put(at, { isActive: false })).status).toBe(200)
    // Returns when the look has ended.
    await held.release()
    const waiting = service.db
      .selectFrom('deliveries')
      .where('endpointId', '=', endpoint.id)
      .select('flowState')
    expect((await client.get(endpoint.at('/deliveries'))).body).toMatchObject({ items: [] })
    expect(await waiting.execute()).toEqual([{ flowState: 'waiting' }])
    expect((await client.put(at, { isActive: true })).status).toBe(200)
    expect(await attempt(endpoint, 'Succeeded')).toMatchObject({ error: null })
    expect(await receiver.received(1)).toHaveLength(1)
  })

  test('whose channel is muted sends nothing and says so', async () => {
    const endpoint = await client.endpoint()
    const mutedUntil = new Date(service.clock.now().getTime() + 60_000).toISOString()
    await notify(endpoint, await channel({ mutedUntil }))
    await endpoint.capture()
    expect(await attempt(endpoint, 'Errored')).toMatchObject({
      error: 'channel_unavailable: The channel is muted.',
    })
    const { body } = await client.get(`${PATH}/deliveries?outcome=muted`)
    expect(body).toMatchObject({ totalCount: 1 })
    expect(receiver.messages).toEqual([])
  })

  test('can be replayed: one send, inline', async () => {
    const endpoint = await client.endpoint()
    await notify(endpoint, await channel())
    const { id } = await endpoint.capture()
    await attempt(endpoint, 'Succeeded')
    receiver.replies = [{ status: 500, body: 'broken' }]
    const { status, body } = await client.post(endpoint.at(`/requests/${id}/replay`))
    expect(status).toBe(200)
    expect(body).toMatchObject({
      state: 'Failed',
      outcomes: [{ kind: 'notify', state: 'Failed', statusCode: 500, error: 'http_500: broken' }],
    })
    expect(receiver.messages).toHaveLength(2)
  })

  test('its record shows what was sent and received, and no secret', async () => {
    const endpoint = await client.endpoint()
    const secret = `${receiver.url}/services/T0/B0/verysecretpart`
    receiver.replies = [{ status: 403, body: 'invalid_token verysecretpart' }]
    await notify(endpoint, await channel({ kind: 'slack', secret, settings: {} }))
    await endpoint.capture()
    const { id } = await attempt(endpoint, 'Failed')
    const { body, text } = await client.get(endpoint.at(`/deliveries/${id}`))
    expect(body).toMatchObject({
      hasDetail: true,
      sent: { method: 'POST', url: expect.stringContaining('.../B0') },
      received: { statusCode: 403, body: 'invalid_token ***' },
    })
    expect(text).not.toContain('verysecretpart')
    expect((await client.get(`${PATH}/deliveries`)).text).not.toContain('verysecretpart')
  })

  test('its record hides a token that is a plain word', async () => {
    const endpoint = await client.endpoint()
    const settings = { topic: 'ops', serverUrl: receiver.url }
    await notify(endpoint, await channel({ kind: 'ntfy', secret: 'hunter', settings }))
    await endpoint.capture()
    const { id } = await attempt(endpoint, 'Succeeded')
    expect(receiver.messages[0]?.headers.authorization).toBe('Bearer hunter')
    const { text } = await client.get(endpoint.at(`/deliveries/${id}`))
    expect(text).toContain('Bearer ***')
    expect(text).not.toContain('hunter')
  })
})
