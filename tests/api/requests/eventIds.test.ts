import { beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { TestEndpoint } from '../../support/client.ts'
import { anHourAgo } from '../../support/clock.ts'
import { openEvents } from '../../support/eventReader.ts'
import { wrongParts } from '../../support/problems.ts'
import { startReceiver } from '../../support/receiver.ts'
import { startService, type TestService } from '../../support/service.ts'

/** The sender's own id of an event, from the capture to all places that show it. */

let service: TestService

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 100_000, endpointsMax: 1_000 } })
})

const Detail = z.looseObject({
  id: z.int(),
  eventId: z.string().nullable(),
  body: z.string().nullable(),
  headers: z.record(z.string(), z.string()),
})

const detailOf = (endpoint: TestEndpoint, id: number) =>
  endpoint.client.expect(endpoint.client.get(endpoint.at(`/requests/${id}`)), Detail)

const idsOf = async (endpoint: TestEndpoint, query: string) =>
  (await endpoint.requests(query)).map(({ id }) => id)

const event = (id: string, type = 'order.paid') => ({ body: JSON.stringify({ id, type }) })

/** Places of the id by the packages and references of senders; keys are slugs of the samples. */
const DOCUMENTED: Readonly<Record<string, (sent: z.output<typeof Detail>) => unknown>> = {
  bitbucket: ({ headers }) => headers['X-Request-UUID'],
  clerk: ({ headers }) => headers['svix-id'],
  github: ({ headers }) => headers['X-GitHub-Delivery'],
  gitlab: ({ headers }) => headers['Idempotency-Key'],
  intercom: ({ body }) => JSON.parse(body ?? '').id,
  jira: ({ headers }) => headers['X-Atlassian-Webhook-Identifier'],
  linear: ({ headers }) => headers['Linear-Delivery'],
  mailgun: ({ body }) => JSON.parse(body ?? '')['event-data'].id,
  paddle: ({ body }) => JSON.parse(body ?? '').event_id,
  razorpay: ({ headers }) => headers['x-razorpay-event-id'],
  resend: ({ headers }) => headers['svix-id'],
  shopify: ({ headers }) => headers['X-Shopify-Event-Id'],
  slack: ({ body }) => JSON.parse(body ?? '').event_id,
  square: ({ body }) => JSON.parse(body ?? '').event_id,
  'standard-webhooks': ({ headers }) => headers['webhook-id'],
  stripe: ({ body }) => JSON.parse(body ?? '').id,
  svix: ({ headers }) => headers['svix-id'],
  twilio: ({ headers }) => headers['I-Twilio-Idempotency-Token'],
  typeform: ({ body }) => JSON.parse(body ?? '').event_id,
  woocommerce: ({ headers }) => headers['X-WC-Webhook-Delivery-ID'],
  workos: ({ body }) => JSON.parse(body ?? '').id,
  zendesk: ({ headers }) => headers['X-Zendesk-Webhook-Invocation-Id'],
}
/** Secret for senders that sign with a base64 key, so that their samples carry the headers of a signature. */
const SECRET = `whsec_${Buffer.from('a secret of the suite, 32 bytes!').toString('base64')}`

test.each(Object.entries(DOCUMENTED))(
  'the id of a sample of %s is the documented field',
  async (provider, fieldOf) => {
    const { alice } = service
    const endpoint = await alice.endpoint({ provider, signingSecret: SECRET })
    const sample = z.looseObject({ requestId: z.int() })
    const { requestId } = await alice.expect(alice.post(endpoint.at('/samples'), { provider }), sample)
    const detail = await detailOf(endpoint, requestId)
    expect(detail.eventId).toBeString()
    expect(detail.eventId).toBe(String(fieldOf(detail)))
  },
)

test('an id is in lists and details, and finds its requests by the filter of lists, awaits and deletions of none', async () => {
  const { alice } = service
  const endpoint = await alice.endpoint({ provider: 'stripe' })
  const first = await endpoint.capture(event('evt_1'))
  const other = await endpoint.capture(event('evt_2'))
  const again = await endpoint.capture(event('evt_1', 'order.voided'))
  const none = await endpoint.capture({ body: 'nothing' })
  expect((await endpoint.requests()).map(({ eventId }) => eventId)).toEqual([null, 'evt_1', 'evt_2', 'evt_1'])
  expect((await detailOf(endpoint, none.id)).eventId).toBeNull()
  expect(await idsOf(endpoint, 'eventId=evt_1')).toEqual([again.id, first.id])
  expect(await idsOf(endpoint, 'eventId=evt_1&label=order.paid')).toEqual([first.id])
  expect(await idsOf(endpoint, `eventId=evt_1&afterId=${first.id}`)).toEqual([again.id])
  expect(await idsOf(endpoint, 'eventId=evt_1&pageSize=1&page=2')).toEqual([first.id])
  expect(await idsOf(endpoint, 'eventId=EVT_1')).toEqual([])
  const awaited = await alice.expect(alice.get(endpoint.at('/requests/await?eventId=evt_2')), Detail)
  expect(awaited.id).toBe(other.id)
  expect(wrongParts(await alice.delete(endpoint.at('/requests?eventId=evt_1')))).toEqual([
    '?eventId not_allowed',
  ])
})

test('an id that is too long is found by itself and by its digest', async () => {
  const endpoint = await service.alice.endpoint({ provider: 'stripe' })
  const long = `evt_${'x'.repeat(400)}`
  const stored = await endpoint.capture(event(`${long}1`))
  await endpoint.capture(event(`${long}2`))
  const digest = `sha256:${createHash('sha256').update(`${long}1`).digest('hex')}`
  expect(stored.eventId).toBe(digest)
  expect(await idsOf(endpoint, `eventId=${long}1`)).toEqual([stored.id])
  expect(await idsOf(endpoint, `eventId=${digest}`)).toEqual([stored.id])
  const tooLong = await service.alice.get(endpoint.at(`/requests?eventId=${'x'.repeat(2_001)}`))
  expect(wrongParts(tooLong)).toEqual(['?eventId too_long'])
})

describe("an endpoint's own path", () => {
  test('is in force for the very next capture, and "" goes back to the provider\'s place', async () => {
    const { alice } = service
    const endpoint = await alice.endpoint({ provider: 'stripe', eventIdPath: 'headers.x-id' })
    const send = () => endpoint.capture({ ...event('evt_1'), headers: { 'X-Id': 'mine' } })
    expect((await send()).eventId).toBe('mine')
    expect((await alice.patch(endpoint.at(''), { eventIdPath: 'body.type' })).body).toMatchObject({
      eventIdPath: 'body.type',
    })
    expect((await send()).eventId).toBe('order.paid')
    expect((await alice.patch(endpoint.at(''), { eventIdPath: '' })).body).toMatchObject({
      eventIdPath: null,
    })
    expect((await send()).eventId).toBe('evt_1')
  })

  test.each(['label', 'body.a[*]', 'id', 'body.', `body.${'x'.repeat(300)}`])(
    'is not %p',
    async (eventIdPath) => {
      const { alice } = service
      const code = eventIdPath.length > 200 ? 'too_long' : 'bad_path'
      const answer = await alice.post('/api/v1/endpoints', { eventIdPath })
      expect({ status: answer.status, parts: wrongParts(answer) }).toEqual({
        status: 400,
        parts: [`#/eventIdPath ${code}`],
      })
    },
  )
})

test('a stream carries ids, and follows one of them', async () => {
  const endpoint = await service.alice.endpoint({ provider: 'stripe' })
  await using stream = await openEvents(
    service.alice,
    endpoint.at('/requests/stream?eventId=evt_2&afterId=0'),
  )
  await endpoint.capture(event('evt_1'))
  const wanted = await endpoint.capture(event('evt_2'))
  const seen = await stream.until((events) => events.some((one) => one.event === 'arrived'))
  expect(seen.find((one) => one.event === 'arrived')).toMatchObject({
    data: { requests: [{ id: wanted.id, eventId: 'evt_2' }] },
  })
})

test('a forward, its retries and its replays say the id; the header of a sender is not passed on', async () => {
  await using receiver = await startReceiver()
  const endpoint = await service.alice.endpoint({ forwardUrl: receiver.url, provider: 'stripe' })
  const captured = await endpoint.capture({ ...event('évt_1'), headers: { 'creel-event-id': 'forged' } })
  await receiver.take(1)
  await service.alice.post(endpoint.at(`/requests/${captured.id}/replay`))
  const seen = (await receiver.take(2)).map((got) =>
    Buffer.from(got?.header('creel-event-id') ?? '', 'latin1').toString(),
  )
  expect(seen).toEqual(['évt_1', 'évt_1'])
  await endpoint.capture({ body: '{}', headers: { 'creel-event-id': 'forged' } })
  const [, , without] = await receiver.take(3)
  expect(without?.header('creel-event-id')).toBeUndefined()
})

test('an export says the id, and an import keeps it, its bytes counted', async () => {
  const { alice, charlie } = service
  const source = await alice.endpoint({ provider: 'stripe' })
  const target = await charlie.endpoint()
  for (const id of ['evt_1', 'x'.repeat(300)]) await source.capture(event(id))
  await source.capture({ body: 'none' })
  const { text } = await alice.get(source.at('/requests/export'))
  expect((await target.importLines(text)).status).toBe(200)
  const eventIds = async (endpoint: TestEndpoint) => (await endpoint.requests()).map(({ eventId }) => eventId)
  expect(await eventIds(target)).toEqual(await eventIds(source))
  expect(await idsOf(target, 'eventId=evt_1')).toHaveLength(1)
  const one = await alice.get(source.at('/requests/export?eventId=evt_1'))
  expect(one.text.trim().split('\n')).toHaveLength(1)
})

test.each(['', 'x'.repeat(201), 'a\0b', 'a\nb', 7])('a line with the id %p is refused', async (eventId) => {
  const endpoint = await service.alice.endpoint()
  const line = { receivedAt: anHourAgo(), method: 'POST', eventId }
  const answer = await endpoint.importLines(JSON.stringify(line))
  expect(answer.status).toBe(400)
  expect(wrongParts(answer)[0]).toStartWith('#/lines/1/eventId')
})

test('the catalog says where ids stand, and where that is documented', async () => {
  const Items = z.object({ items: z.array(z.looseObject({ slug: z.string(), eventId: z.unknown() })) })
  const { items } = await service.alice.expect(service.alice.get('/api/v1/providers'), Items)
  const of = (slug: string) => items.find((item) => item.slug === slug)?.eventId
  expect(of('stripe')).toEqual({
    source: 'body',
    name: 'id',
    documentedAt: 'https://docs.stripe.com/webhooks#handle-duplicate-events',
  })
  expect(of('github')).toMatchObject({ source: 'header', name: 'X-GitHub-Delivery' })
  expect(of('strava')).toBeNull()
})
