import { beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { attemptsEnded } from '../support/attempts.ts'
import type { TestEndpoint } from '../support/client.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'

const SECOND = 1000
const HOUR = 3600 * SECOND
/** The delays of the retry schedule with the most that jitter adds. */
const LONGEST_DELAYS = [5, 300, 1800, 7200, 18_000, 36_000].map((seconds) => seconds * 1.2 * SECOND + SECOND)

/** With the shipped schedule, whose first retry comes after some seconds by itself. */
let shipped: TestService
/** With a first retry that only a test brings about. */
let service: TestService
beforeAll(async () => {
  shipped = await startService()
  service = await startService({ retryDelaysSeconds: [600, 1200] })
})

const Attempts = z.object({
  items: z.array(
    z.looseObject({
      id: z.int(),
      state: z.string(),
      error: z.string().nullable(),
      trigger: z.string(),
      attemptNumber: z.int(),
      at: z.string(),
      nextAttemptAt: z.string().nullable(),
    }),
  ),
})

/** Attempts, oldest first, once `count` have ended. */
async function attempts(endpoint: TestEndpoint, count: number, of = service) {
  await attemptsEnded(of, endpoint, count)
  const { items } = await of.alice.expect(of.alice.get(endpoint.at('/deliveries')), Attempts)
  return items.toReversed()
}

const stats = async (endpoint: TestEndpoint, of = service) =>
  Object((await of.alice.get(endpoint.at('/stats'))).body).backlog
const incidents = (endpoint: TestEndpoint) =>
  service.db
    .selectFrom('incidents')
    .where('endpointId', '=', endpoint.id)
    .select(['kind', 'count', 'closedAt', 'reason'])
    .orderBy('openedAt')
    .execute()

describe('the retry schedule', () => {
  test('is the one that the operator set', async () => {
    await using receiver = await startReceiver({ status: 500 })
    const own = await startService({ retryDelaysSeconds: [600] })
    const endpoint = await own.alice.endpoint({ forwardUrl: receiver.url })
    await endpoint.capture()
    const [first] = await attempts(endpoint, 1, own)
    const wait = Date.parse(first?.nextAttemptAt ?? '') - Date.parse(first?.at ?? '')
    expect(wait).toBeGreaterThanOrEqual(480 * SECOND)
    await own.clock.advance(721 * SECOND)
    const states = (await attempts(endpoint, 2, own)).map(({ state }) => state)
    expect(states).toEqual(['Failed', 'DeadLetter'])
    await own.stop()
  })

  test('seven attempts, then a dead letter and one open incident, until a delivery succeeds', async () => {
    await using receiver = await startReceiver({ status: 503 })
    const own = await startService()
    const endpoint = await own.alice.endpoint({ forwardUrl: receiver.url })
    const request = await endpoint.capture()
    await attemptsEnded(own, endpoint, 1)
    expect(await stats(endpoint, own)).toMatchObject({ pendingCount: 0, retryingCount: 1, parkedCount: 0 })
    for (const [at, delay] of LONGEST_DELAYS.entries()) {
      await own.clock.advance(delay)
      await attemptsEnded(own, endpoint, at + 2)
    }
    const tried = await attempts(endpoint, 7, own)
    expect(tried.map(({ state }) => state)).toEqual([...Array(6).fill('Failed'), 'DeadLetter'])
    expect(tried.map(({ trigger }) => trigger)).toEqual(['capture', ...Array(6).fill('retry')])
    expect(tried.map(({ attemptNumber }) => attemptNumber)).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect(tried.at(-1)).toMatchObject({ error: 'http_503', statusCode: 503, nextAttemptAt: null })
    const uuids = new Set(receiver.received.map((one) => one.header('creel-delivery-id')))
    expect([uuids.size, receiver.received.map((one) => one.header('creel-attempt'))]).toEqual([
      1,
      ['1', '2', '3', '4', '5', '6', '7'],
    ])
    const [row] = await endpoint.requests()
    expect(row).toMatchObject({ state: 'DeadLetter', attemptCount: 7 })
    expect(await stats(endpoint, own)).toMatchObject({ pendingCount: 0, retryingCount: 0, parkedCount: 1 })
    const open = () =>
      own.db
        .selectFrom('incidents')
        .where('endpointId', '=', endpoint.id)
        .where('kind', '=', 'delivery.parked')
        .select(['count', 'closedAt', 'reason'])
        .execute()
    expect(await open()).toEqual([{ count: 1, closedAt: null, reason: 'http_503' }])

    receiver.answer = { status: 200 }
    await own.alice.post(endpoint.at(`/requests/${request.id}/replay`))
    expect(await open()).toEqual([{ count: 1, closedAt: expect.any(Date), reason: 'http_503' }])
  })

  test('a retry that succeeds ends the run', async () => {
    await using receiver = await startReceiver({ status: 500 })
    const endpoint = await shipped.alice.endpoint({ forwardUrl: receiver.url })
    await endpoint.capture()
    await attemptsEnded(shipped, endpoint, 1)
    receiver.answer = { status: 204 }
    const { nextAttemptAt, finishedAt } = await shipped.db
      .selectFrom('deliveryAttempts')
      .where('endpointId', '=', endpoint.id)
      .select(['nextAttemptAt', 'finishedAt'])
      .orderBy('id')
      .executeTakeFirstOrThrow()
    const wait = (nextAttemptAt?.getTime() ?? 0) - (finishedAt?.getTime() ?? 0)
    expect(wait).toBeWithin(4 * SECOND, 6 * SECOND + 1)
    await shipped.clock.advance(7 * SECOND)
    const tried = await attempts(endpoint, 2, shipped)
    expect(tried.map(({ state }) => state)).toEqual(['Failed', 'Succeeded'])
    expect(await stats(endpoint, shipped)).toMatchObject({
      pendingCount: 0,
      retryingCount: 0,
      nextAttemptAt: null,
    })
  })

  test.each([
    ['nothing', {}, undefined, 60],
    ['Retry-After: 1', { 'Retry-After': '1' }, undefined, 4],
    ['Retry-After: 900', { 'Retry-After': '900' }, undefined, 900],
    ['nothing, to an action with own delays', {}, { retry: { delays: ['10s'] } }, 8],
  ])('a 429 that says %s', async (_, headers, delivery, least) => {
    await using receiver = await startReceiver({ status: 429, headers })
    const endpoint = await shipped.alice.endpoint()
    await shipped.alice.post(endpoint.at('/actions'), { kind: 'forward', url: receiver.url, delivery })
    await endpoint.capture()
    const [first] = await attempts(endpoint, 1, shipped)
    const waits = (Date.parse(first?.nextAttemptAt ?? '') - Date.parse(first?.at ?? '')) / SECOND
    expect(waits).toBeGreaterThanOrEqual(least)
    expect(waits).toBeLessThan(least + 30)
  })

  test('several deliveries of one outage count in one incident; 410 makes a dead letter at once', async () => {
    await using receiver = await startReceiver({ status: 410 })
    const endpoint = await service.alice.endpoint({ forwardUrl: receiver.url })
    await endpoint.captureMany(3)
    await attemptsEnded(service, endpoint, 3)
    expect(await incidents(endpoint)).toEqual([
      { kind: 'delivery.parked', count: 3, closedAt: null, reason: 'gone' },
    ])
    const { alerts } = await service.db
      .selectFrom('alerts')
      .where('endpointId', '=', endpoint.id)
      .select((of) => of.fn.countAll<number>().as('alerts'))
      .executeTakeFirstOrThrow()
    expect(alerts).toBe(1)
  })
})

describe('actions', () => {
  test('one failing never stops the others, and none waits for another', async () => {
    const held: (() => void)[] = []
    await using slow = await startReceiver((_, response) => held.push(() => response.end()))
    await using good = await startReceiver()
    const endpoint = await service.alice.endpoint()
    for (const url of ['http://127.0.0.1:9/', slow.url, good.url])
      await service.alice.post(endpoint.at('/actions'), { kind: 'forward', url })
    await endpoint.capture()
    await good.take(1)
    await slow.take(1)
    const tried = await attempts(endpoint, 2)
    expect(tried.map(({ state }) => state).toSorted()).toEqual(['Errored', 'Pending', 'Succeeded'])
    for (const end of held) end()
    await attemptsEnded(service, endpoint, 3)
  })

  test('switched off, it keeps what is queued; switched on within 24 h, that goes on', async () => {
    await using receiver = await startReceiver({ status: 500 })
    const endpoint = await service.alice.endpoint({ forwardUrl: receiver.url })
    await endpoint.capture()
    await attempts(endpoint, 1)
    await service.alice.patch(`/api/v1/endpoints/${endpoint.id}`, { forwardingEnabled: false })
    await service.clock.advance(HOUR)
    expect(await stats(endpoint)).toMatchObject({ retryingCount: 1 })
    receiver.answer = { status: 200 }
    await service.alice.patch(`/api/v1/endpoints/${endpoint.id}`, { forwardingEnabled: true })
    expect((await attempts(endpoint, 2)).map(({ state }) => state)).toEqual(['Failed', 'Succeeded'])
    expect(receiver.received).toHaveLength(2)
  })

  test('off for 24 h: what was queued ends Errored action_off, unsent and no dead letter', async () => {
    await using receiver = await startReceiver({ status: 500 })
    const endpoint = await service.alice.endpoint({ forwardUrl: receiver.url })
    await endpoint.capture()
    await attempts(endpoint, 1)
    await service.alice.patch(`/api/v1/endpoints/${endpoint.id}`, { forwardingEnabled: false })
    await service.clock.advance(HOUR)
    await service.clock.advance(23 * HOUR + 60 * SECOND)
    const [, second] = await attempts(endpoint, 2)
    expect(second).toMatchObject({ state: 'Errored', error: 'action_off', nextAttemptAt: null })
    expect(receiver.received).toHaveLength(1)
    expect(await stats(endpoint)).toMatchObject({ retryingCount: 0, parkedCount: 0 })
    expect(await incidents(endpoint)).toEqual([])
  })

  test('deleted: what is queued is dropped, its attempts stay without an action', async () => {
    await using receiver = await startReceiver({ status: 500 })
    const endpoint = await service.alice.endpoint({ forwardUrl: receiver.url })
    const request = await endpoint.capture()
    await attempts(endpoint, 1)
    await service.alice.patch(`/api/v1/endpoints/${endpoint.id}`, { forwardUrl: '' })
    expect(await stats(endpoint)).toMatchObject({ retryingCount: 0 })
    await service.clock.advance(721 * SECOND)
    const [only] = await attempts(endpoint, 1)
    expect(only).toMatchObject({ state: 'Failed', actionId: null, nextAttemptAt: null })
    const detail = Object((await service.alice.get(endpoint.at(`/requests/${request.id}`))).body)
    expect(detail).toMatchObject({
      state: 'Failed',
      deliveries: [{ actionId: null, state: 'Failed', attemptCount: 1 }],
    })
  })

  test('deleted before the first try: NotAttempted', async () => {
    const gateway = await startService({ parts: ['gateway'] })
    const endpoint = await gateway.alice.endpoint({ forwardUrl: 'http://127.0.0.1:9/' })
    expect(await endpoint.capture()).toMatchObject({ state: 'Pending' })
    await gateway.alice.patch(`/api/v1/endpoints/${endpoint.id}`, { forwardUrl: '' })
    expect((await endpoint.requests())[0]).toMatchObject({ state: 'NotAttempted', attemptCount: 0 })
  })

  test('no action: NotAttempted; conditions and none matched: Skipped; the state filter finds both', async () => {
    const endpoint = await service.alice.endpoint()
    const first = await endpoint.capture()
    await service.alice.post(endpoint.at('/actions'), {
      kind: 'forward',
      url: 'http://127.0.0.1:9/',
      condition: { path: 'body.type', op: 'exists' },
    })
    const second = await endpoint.capture()
    expect([first.state, second.state]).toEqual(['NotAttempted', 'Skipped'])
    expect((await endpoint.requests('state=Skipped')).map(({ id }) => id)).toEqual([second.id])
    expect((await endpoint.requests('state=NotAttempted')).map(({ id }) => id)).toEqual([first.id])
  })

  test('clearing the endpoint does not cancel what is queued', async () => {
    await using receiver = await startReceiver({ status: 500 })
    const endpoint = await service.alice.endpoint({ forwardUrl: receiver.url })
    await endpoint.capture({ body: '{"kept":true}' })
    await attempts(endpoint, 1)
    receiver.answer = { status: 200 }
    await service.alice.delete(endpoint.at('/requests'))
    await service.clock.advance(721 * SECOND)
    const [, again] = await receiver.take(2)
    expect(again?.body.toString()).toBe('{"kept":true}')
  })
})

describe('a worker that dies', () => {
  test('leaves Interrupted when its lease ends; the run goes on at once', async () => {
    await using receiver = await startReceiver(() => {})
    const endpoint = await service.alice.endpoint({ forwardUrl: receiver.url })
    await endpoint.capture()
    await receiver.take(1)
    receiver.answer = { status: 200 }
    await service.clock.advance(91 * SECOND)
    const [first, second] = await attempts(endpoint, 2)
    expect(first).toMatchObject({ state: 'Interrupted', error: 'interrupted', statusCode: null })
    expect(second).toMatchObject({ state: 'Succeeded', attemptNumber: 2, trigger: 'retry' })
  })
})
