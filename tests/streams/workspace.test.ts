import { beforeAll, expect, test } from 'bun:test'
import type { AppRouter } from '@creel/core'
import { createTRPCClient, httpSubscriptionLink } from '@trpc/client'
import { EventSource } from 'eventsource'
import { z } from 'zod'
import type { Client } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'

const WorkspaceEvent = z.strictObject({
  endpoints: z.array(
    z.looseObject({
      id: z.string(),
      storedRequestCount: z.int(),
      rejectedCount: z.int(),
      attentionCount: z.int(),
    }),
  ),
  isListChanged: z.boolean(),
  openIncidentCount: z.int(),
  alarmedWatchdogCount: z.int(),
})

let service: TestService

beforeAll(async () => {
  service = await startService({ limits: { captureRatePerMinute: 100_000 } })
})

/** Follows the workspace of a key, and collects its events. */
function follow({ baseUrl }: Pick<Client, 'baseUrl'>, key: string) {
  const heard: z.output<typeof WorkspaceEvent>[] = []
  const subscription = createTRPCClient<AppRouter>({
    links: [
      httpSubscriptionLink({
        url: `${baseUrl}/trpc`,
        EventSource,
        eventSourceOptions: {
          fetch: (to, init) =>
            fetch(to, { ...init, headers: { ...init.headers, Authorization: `Bearer ${key}` } }),
        },
      }),
    ],
  }).workspace.follow.subscribe({}, { onData: (event) => heard.push(WorkspaceEvent.parse(event)) })
  return {
    heard,
    /** The stored requests of an endpoint, by the last event about it. */
    stored: (id: string) =>
      heard.flatMap(({ endpoints }) => endpoints.filter((one) => one.id === id)).at(-1)?.storedRequestCount,
    [Symbol.dispose]: () => subscription.unsubscribe(),
  }
}

test('first it says where the workspace stands, then what changed, once a second', async () => {
  const [quiet, busy] = [await service.alice.endpoint(), await service.alice.endpoint()]
  await using _other = await foreign()
  using feed = follow(service.alice, service.alice.key)
  await eventually('the first event', () => feed.heard.length > 0)
  expect(feed.heard[0]).toMatchObject({ isListChanged: true, openIncidentCount: 0, alarmedWatchdogCount: 0 })
  expect(new Set(feed.heard[0]?.endpoints.map(({ id }) => id))).toEqual(new Set([quiet.id, busy.id]))
  const begunAt = performance.now()
  await Promise.all(Array.from({ length: 60 }, () => busy.capture()))
  await eventually('sixty captures', () => feed.stored(busy.id) === 60)
  const later = feed.heard.slice(1)
  const seconds = (performance.now() - begunAt) / 1000
  // There are sixty captures, but at most one event a second.
  expect(later.length).toBeLessThan(10 + seconds)
  expect(later.every(({ endpoints }) => endpoints.every(({ id }) => id === busy.id))).toBe(true)
  const made = await service.alice.endpoint()
  await eventually('the new endpoint', () => feed.stored(made.id) === 0)
  expect(feed.heard.at(-1)?.isListChanged).toBe(true)
})

test('it says how many requests need attention, until their deliveries succeed or they are deleted', async () => {
  await using receiver = await startReceiver({ status: 500 })
  const endpoint = await service.alice.endpoint({ name: 'troubled' })
  for (const name of ['one', 'two']) {
    await service.alice.post(endpoint.at('/actions'), {
      kind: 'forward',
      name,
      url: receiver.url,
      delivery: { retry: { delays: ['1h'] } },
    })
  }
  const rows = await endpoint.captureMany(2)
  await receiver.take(4)
  using feed = follow(service.alice, service.alice.key)
  const attention = () =>
    feed.heard.flatMap(({ endpoints }) => endpoints.filter(({ id }) => id === endpoint.id)).at(-1)
      ?.attentionCount
  // Two requests, though four deliveries failed.
  await eventually('both', () => attention() === 2)
  receiver.answer = { status: 200 }
  const { body } = await service.alice.get(endpoint.at('/actions'))
  const { actions } = z.looseObject({ actions: z.array(z.looseObject({ id: z.string() })) }).parse(body)
  // Edited requests that are taken change nothing.
  for (const { id: actionId } of actions)
    await service.alice.post(endpoint.at(`/requests/${rows[1]?.id}/send`), { actionId, body: 'another' })
  await service.alice.post(endpoint.at(`/requests/${rows[0]?.id}/replay`), {})
  await eventually('one is replayed', () => attention() === 1)
  await service.alice.delete(endpoint.at(`/requests/${rows[1]?.id}`))
  await eventually('one is deleted', () => attention() === 0)
})

test('a key of one endpoint hears of nothing else', async () => {
  const own = await service.alice.endpoint()
  const { key } = await service.alice.expect(
    service.alice.post('/api/v1/keys', { name: 'one', scope: 'read', endpointId: own.id }),
    z.looseObject({ key: z.string() }),
  )
  using feed = follow(service.alice, key)
  await eventually('the first event', () => feed.heard.length > 0)
  await (await service.alice.endpoint()).capture()
  await own.capture()
  await eventually('its capture', () => feed.stored(own.id) === 1)
  const ids = feed.heard.flatMap(({ endpoints }) => endpoints.map(({ id }) => id))
  expect(new Set(ids)).toEqual(new Set([own.id]))
})

/** Another workspace, whose captures others must not see. */
async function foreign() {
  const endpoint = await service.charlie.endpoint()
  let isOver = false
  const sending = (async () => {
    // Not `capture`, whose reads would spend the budget of the key on a fast machine.
    while (!isOver) expect((await endpoint.send()).status).toBe(200)
  })()
  return {
    async [Symbol.asyncDispose]() {
      isOver = true
      await sending
    },
  }
}
