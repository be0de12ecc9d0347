import { beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { TestBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { wrongParts } from '../support/problems.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let browser: TestBrowser

beforeAll(async () => {
  service = await startService()
  browser = new TestBrowser(service)
  await browser.signIn({ key: service.alice.key })
})

const Traffic = z.object({
  from: z.string(),
  to: z.string(),
  buckets: z.array(z.object({ from: z.string(), capturedCount: z.int(), failedCount: z.int() })),
})
const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0)

describe('older requests', () => {
  test('are read page by page while others arrive, filtered, and never twice', async () => {
    const endpoint = await service.alice.endpoint()
    const captured = await endpoint.captureMany(5, { body: '{"type":"wanted"}' })
    await endpoint.capture({ body: '{"type":"other"}' })
    const seen: number[] = []
    const Page = z.object({ items: z.array(z.looseObject({ id: z.int() })), hasMore: z.boolean() })
    for (let hasMore = true; hasMore; ) {
      const input = {
        endpointId: endpoint.id,
        label: 'wanted',
        limit: 2,
        ...(seen.length > 0 && { beforeId: seen.at(-1) }),
      }
      const page = Page.parse((await browser.query('requests.older', input)).data)
      seen.push(...page.items.map(({ id }) => id))
      hasMore = page.hasMore
      await endpoint.capture({ body: '{"type":"wanted"}' })
    }
    expect(seen.slice(-4)).toEqual(
      captured
        .slice(0, 4)
        .map(({ id }) => id)
        .reverse(),
    )
    expect(new Set(seen).size).toBe(seen.length)
    const listed = await endpoint.requests(`beforeId=${captured[2]?.id}`)
    expect(listed.map(({ id }) => id)).toEqual([captured[1]?.id, captured[0]?.id].map(Number))
  })

  test('their ids are selected for work on many', async () => {
    const endpoint = await service.alice.endpoint()
    const captured = await endpoint.captureMany(3)
    const input = { endpointId: endpoint.id, method: 'post', limit: 2 }
    expect(await browser.query('requests.select', input)).toMatchObject({
      data: { ids: [captured[2]?.id, captured[1]?.id], hasMore: true },
    })
    const foreign = await service.charlie.endpoint()
    for (const name of ['requests.select', 'requests.older']) {
      expect((await browser.query(name, { endpointId: foreign.id })).code).toBe('not_found')
    }
    expect((await browser.query('requests.select', { ...input, limit: 501 })).code).toBe('validation_failed')
  })
})

describe('GET /api/v1/endpoints/{endpointId}/traffic', () => {
  test('counts what arrived in the part of the period in which it did', async () => {
    const endpoint = await service.alice.endpoint()
    const captured = await endpoint.captureMany(3)
    const now = service.clock.now().getTime()
    const path = (from: number, to: number, buckets: number) =>
      endpoint.at(
        `/traffic?from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}&buckets=${buckets}`,
      )
    const hour = await service.alice.expect(
      service.alice.get(path(now - 3_600_000, now + 60_000, 61)),
      Traffic,
    )
    expect(hour.buckets).toHaveLength(61)
    expect(sum(hour.buckets.map(({ capturedCount }) => capturedCount))).toBe(3)
    const filled = hour.buckets.filter(({ capturedCount }) => capturedCount > 0)
    for (const { from } of filled)
      expect(Date.parse(from)).toBeLessThanOrEqual(Date.parse(captured[0]?.receivedAt ?? '') + 60_000)
    const before = await service.alice.expect(
      service.alice.get(path(now - 7_200_000, now - 3_600_000, 1)),
      Traffic,
    )
    expect(before.buckets.map(({ capturedCount }) => capturedCount)).toEqual([0])
    expect(wrongParts(await service.alice.get(endpoint.at('/traffic?buckets=121&from=now')))).toEqual([
      '?buckets out_of_range',
      '?from bad_format',
    ])
    for (const read of [
      path(now, now - 1, 1),
      `/api/v1/traffic?from=${new Date(now + 60_000).toISOString()}`,
    ])
      expect(wrongParts(await service.alice.get(read))).toEqual(['?from out_of_range'])
    expect((await service.alice.get(path(now, now, 1))).status).toBe(200)
  })
})

test('a condition is tried on the newest stored requests, with the answer of an action', async () => {
  const endpoint = await service.alice.endpoint()
  const ids: number[] = []
  for (const amount of [10, 20, 30]) ids.push((await endpoint.capture({ body: `{"amount":${amount}}` })).id)
  const path = endpoint.at('/conditions/preview')
  const condition = { all: [{ path: 'body.amount', op: 'gte', value: 20 }] }
  expect((await service.alice.post(path, { condition })).body).toEqual({
    testedCount: 3,
    matched: { count: 2, firstIds: [ids[2], ids[1]] },
    notMatched: { count: 1, firstIds: [ids[0]] },
    note: null,
  })
  expect((await service.alice.post(path, { condition, last: 1 })).body).toMatchObject({
    testedCount: 1,
    notMatched: { count: 0 },
  })
  const misspelt = {
    any: [
      { path: 'body.amuont', op: 'gte', value: 20 },
      { path: 'headers.X-No', op: 'neq', value: 'x' },
      { path: 'body.gone', op: 'exists', value: false },
      { path: 'body.amount', op: 'eq', value: 99 },
    ],
  }
  expect((await service.alice.post(path, { condition: misspelt })).body).toMatchObject({
    matched: { count: 3 },
    note: 'matched nothing: body.amuont, headers.X-No',
  })
  const fresh = await service.alice.endpoint()
  expect(
    (await service.alice.post(fresh.at('/conditions/preview'), { condition: misspelt })).body,
  ).toMatchObject({
    testedCount: 0,
    matched: { count: 0 },
    note: null,
  })
  const wrong = await service.alice.post(path, {
    condition: { all: [{ path: 'bdy', op: 'gte' }] },
    last: 501,
  })
  expect(wrongParts(wrong)).toContain('#/condition/all/0/path bad_path')
  expect(wrongParts(wrong)).toContain('#/last out_of_range')
})

test('GET /api/v1/usage counts beside the limits of the plan', async () => {
  const client = await service.newClient('pro')
  const endpoint = await client.endpoint({ name: 'used' })
  await endpoint.captureMany(2)
  expect((await client.get('/api/v1/usage')).body).toMatchObject({
    endpoints: { count: 1, max: 50 },
    apiKeys: { count: 1, max: 10 },
    watchdogs: { count: 0, max: 25 },
    storedRequestsMax: 10_000,
    perEndpoint: [{ endpointId: endpoint.id, name: 'used', storedRequestCount: 2, rejectedCount: 0 }],
  })
})

test('deliveries are listed by action, and incidents as long as they are open', async () => {
  await using receiver = await startReceiver()
  const client = await service.newClient()
  const endpoint = await client.endpoint()
  const actions: string[] = []
  for (const name of ['one', 'two']) {
    const made = client.post(endpoint.at('/actions'), { kind: 'forward', name, url: receiver.url })
    actions.push((await client.expect(made, z.looseObject({ id: z.string() }))).id)
  }
  await endpoint.capture()
  await receiver.take(2)
  const Page = z.looseObject({ items: z.array(z.looseObject({ actionId: z.string() })) })
  const ofSecond = await eventually('a delivery', async () => {
    const { items } = await client.expect(client.get(endpoint.at(`/deliveries?actionId=${actions[1]}`)), Page)
    return items.length > 0 && items
  })
  expect(ofSecond.map(({ actionId }) => actionId)).toEqual([actions[1] ?? ''])

  await service.db
    .insertInto('incidents')
    .values({
      id: crypto.randomUUID(),
      workspaceId: client.workspaceId,
      kind: 'delivery.parked',
      severity: 'error',
      subjectType: 'action',
      subjectId: actions[0] ?? '',
      subjectName: 'one',
      count: 3,
      openedAt: service.clock.now(),
    })
    .execute()
  expect((await client.get('/api/v1/incidents?state=open')).body).toMatchObject({
    totalCount: 1,
    items: [{ subjectName: 'one', count: 3, state: 'open', closedAt: null }],
  })
  expect((await client.get('/api/v1/incidents?state=closed')).body).toMatchObject({ totalCount: 0 })
  expect((await service.charlie.get('/api/v1/incidents')).body).toMatchObject({ totalCount: 0 })
})
