import { beforeAll, describe, expect, test } from 'bun:test'
import { overridePlans, PLANS, type Plan } from '@creel/core/plans'
import { z } from 'zod'
import { Client, type TestEndpoint } from '../support/client.ts'
import { startService, type TestService } from '../support/service.ts'

/** Limits of the plans, written by hand, so that they do not change by accident. */
const LIMITS = {
  solo: {
    apiRatePerMinute: 120,
    apiKeysMax: 3,
    endpointsMax: 10,
    retentionDays: 14,
    captureRatePerMinute: 300,
    captureBytesPerMinute: 335_544_320,
    storedRequestsMax: 1000,
    storedBytesMax: 1_073_741_824,
    payloadBytesMax: 1_048_576,
    actionsMax: 3,
    rulesMax: 0,
    watchdogsMax: 5,
    alertChannelsMax: 2,
    parallelAwaitsMax: 5,
    bulkReplay: 0,
    eventSubscriptionsMax: 5,
    eventsPerMinuteMax: 30,
  },
  pro: {
    apiRatePerMinute: 600,
    apiKeysMax: 10,
    endpointsMax: 50,
    retentionDays: 30,
    captureRatePerMinute: 600,
    captureBytesPerMinute: 3_221_225_472,
    storedRequestsMax: 10_000,
    storedBytesMax: 21_474_836_480,
    payloadBytesMax: 5_242_880,
    actionsMax: 10,
    rulesMax: 10,
    watchdogsMax: 25,
    alertChannelsMax: 10,
    parallelAwaitsMax: 20,
    bulkReplay: 1,
    eventSubscriptionsMax: 50,
    eventsPerMinuteMax: 60,
  },
  team: {
    apiRatePerMinute: 1200,
    apiKeysMax: 50,
    endpointsMax: 10_000,
    retentionDays: 90,
    captureRatePerMinute: 60_000,
    captureBytesPerMinute: 1_649_267_441_664,
    storedRequestsMax: 1_000_000,
    storedBytesMax: 1_099_511_627_776,
    payloadBytesMax: 26_214_400,
    actionsMax: 25,
    rulesMax: 25,
    watchdogsMax: 100,
    alertChannelsMax: 50,
    parallelAwaitsMax: 50,
    bulkReplay: 1,
    eventSubscriptionsMax: 500,
    eventsPerMinuteMax: 300,
  },
  'self-hosted': {
    apiRatePerMinute: 1_000_000_000,
    apiKeysMax: 1_000_000_000,
    endpointsMax: 1_000_000_000,
    retentionDays: 1_000_000_000,
    captureRatePerMinute: 100_000_000,
    captureBytesPerMinute: 9_000_000_000_000_000,
    storedRequestsMax: 1_000_000_000,
    storedBytesMax: 9_000_000_000_000_000,
    payloadBytesMax: 62_914_560,
    actionsMax: 1_000_000_000,
    rulesMax: 1_000_000_000,
    watchdogsMax: 1_000_000_000,
    alertChannelsMax: 1_000_000_000,
    parallelAwaitsMax: 1_000_000_000,
    bulkReplay: 1,
    eventSubscriptionsMax: 1_000_000_000,
    eventsPerMinuteMax: 1_000_000_000,
  },
} as const

const EndpointPage = z.looseObject({
  items: z.array(z.looseObject({ name: z.string(), suspendedByPlan: z.boolean() })),
})

let service: TestService

beforeAll(async () => {
  service = await startService()
})

/** Names of the endpoints that are suspended, oldest first. */
async function suspended(client: Client): Promise<string[]> {
  const { items } = await client.expect(client.get('/api/v1/endpoints?pageSize=100'), EndpointPage)
  return items
    .filter(({ suspendedByPlan }) => suspendedByPlan)
    .map(({ name }) => name)
    .reverse()
}

async function endpointsNamed(client: Client, names: string): Promise<TestEndpoint[]> {
  const made: TestEndpoint[] = []
  for (const name of names) made.push(await client.endpoint({ name }))
  return made
}

const setPlan = (client: Client, plan: 'free' | 'solo' | 'pro' | 'team') =>
  service.operator.workspaces.setPlan({ workspace: client.workspaceId, plan })

test('every plan is worth what the contract says', async () => {
  for (const plan of ['solo', 'pro', 'team', 'self-hosted'] as const) {
    const client = await service.newClient(plan)
    expect((await client.get('/api/v1/me')).body).toMatchObject({ plan: { key: plan }, limits: LIMITS[plan] })
  }
})

describe('the bytes of a minute hold its captures at full size', () => {
  const rateOf = ({ limits }: Plan) => limits.captureRatePerMinute * limits.payloadBytesMax

  test('on every plan as shipped', () => {
    for (const plan of Object.values(PLANS)) {
      expect(plan.limits.captureBytesPerMinute).toBeGreaterThanOrEqual(rateOf(plan))
    }
  })

  test('also where an operator raises the rate or the size, unless the bytes are named', () => {
    const raised = overridePlans({
      free: { captureRatePerMinute: 1000, payloadBytesMax: 10_000_000 },
      solo: { captureRatePerMinute: 1000, captureBytesPerMinute: 5000 },
      team: { payloadBytesMax: 1_000_000_000 },
    })
    expect(raised.free.limits.captureBytesPerMinute).toBe(10_000_000_000)
    expect(raised.solo.limits.captureBytesPerMinute).toBe(5000)
    // A plan does not promise a longer body than a process accepts.
    expect(raised.team.limits).toMatchObject({
      payloadBytesMax: 62_914_560,
      captureBytesPerMinute: 60_000 * 62_914_560,
    })
  })
})

describe('a downgrade', () => {
  test('suspends the newest endpoints, which answer senders 404; an upgrade lifts that by itself', async () => {
    const client = await service.newClient('team')
    const made = await endpointsNamed(client, 'abcdefghijkl')
    const [newest, oldest] = [made.at(-1), made[0]]
    if (newest === undefined || oldest === undefined) throw new Error('not made')
    await newest.capture()

    await setPlan(client, 'solo')
    expect(await suspended(client)).toEqual(['k', 'l'])
    expect((await newest.send()).status).toBe(404)
    expect((await oldest.send()).status).toBe(200)
    // Nothing is deleted: it can still be read.
    expect(await newest.requests()).toHaveLength(1)
    const over = await client.post('/api/v1/endpoints', {})
    expect(over).toMatchObject({ status: 409, body: { code: 'limit_reached' } })

    await setPlan(client, 'pro')
    expect(await suspended(client)).toEqual([])
    expect((await newest.send()).status).toBe(200)
  })

  test('is eased by deleting, and by what expires', async () => {
    const client = await service.newClient('team')
    const ephemeral = await client.endpoint({ name: 'ephemeral', ttlSeconds: 60 })
    const [first] = await endpointsNamed(client, 'abcdefghijkl')
    await setPlan(client, 'solo')
    expect(await suspended(client)).toEqual(['j', 'k', 'l'])

    await client.delete(first?.at('') ?? '')
    expect(await suspended(client)).toEqual(['k', 'l'])
    await service.clock.advance(61_000)
    await service.runJob('endpoints.sweep', {})
    expect(await suspended(client)).toEqual(['l'])
    expect((await client.get(ephemeral.at(''))).status).toBe(200)
  })

  test('to a plan without API access answers api_access_disabled; the keys work again after an upgrade', async () => {
    const client = await service.newClient('solo')
    const endpoint = await client.endpoint()
    await setPlan(client, 'free')
    expect(await client.get('/api/v1/me')).toMatchObject({
      status: 403,
      body: { code: 'api_access_disabled' },
    })
    expect((await endpoint.send()).status).toBe(200)
    await setPlan(client, 'solo')
    expect((await client.get('/api/v1/me')).status).toBe(200)
  })

  test('evicts stored requests above the new cap with the next capture, not at once', async () => {
    const service = await startService({ limits: { storedRequestsMax: 5 } })
    const endpoint = await service.alice.endpoint()
    await endpoint.captureMany(5)
    const smaller = await startService({ ...sharing(service), limits: { storedRequestsMax: 2 } })
    expect(await endpoint.requests()).toHaveLength(5)
    await fetch(`${smaller.captureUrl}/hook/${endpoint.id}`, { method: 'POST', body: '{}' })
    expect(await endpoint.requests()).toHaveLength(2)
    await smaller.stop()
    await service.stop()
  })
})

const sharing = ({ database, clock, secretKey }: TestService) => ({
  database,
  clock,
  secretKey,
  parts: ['gateway'] as const,
})

test('other numbers in the plans file are applied at start', async () => {
  const service = await startService({ parts: ['gateway'], limits: { endpointsMax: 3 } })
  const { alice } = service
  await endpointsNamed(alice, 'abc')
  const tighter = await startService({ ...sharing(service), limits: { endpointsMax: 2 } })
  const there = new Client(tighter.baseUrl, tighter.captureUrl, alice.key, alice.workspaceId)
  expect(await suspended(there)).toEqual(['c'])
  await tighter.stop()
  const looser = await startService({ ...sharing(service), limits: { endpointsMax: 5 } })
  expect(await suspended(alice)).toEqual([])
  await looser.stop()
  await service.stop()
})

describe('a feature that the plan lacks answers feature_not_in_plan', () => {
  const rule = { version: 1, name: 'r', steps: [{ op: 'remove', paths: ['body.a'] }] }

  test('on every gated route of transformations and bulk replay, and on no other', async () => {
    const client = await service.newClient('pro')
    const endpoint = await client.endpoint({ forwardUrl: 'http://127.0.0.1:9/' })
    const { id } = z
      .looseObject({ id: z.string() })
      .parse((await client.post(endpoint.at('/transformations'), rule)).body)
    await setPlan(client, 'solo')
    const gated = [
      client.post(endpoint.at('/transformations'), rule),
      client.post(endpoint.at('/transformation'), rule),
      client.put(endpoint.at(`/transformations/${id}`), { rule: { ...rule, name: 'other' } }),
      client.put(endpoint.at('/transformation'), { rule: { ...rule, name: 'other' } }),
      client.post(endpoint.at(`/transformations/${id}/versions/1/restore`)),
      client.post(endpoint.at('/requests/bulk-replay'), { requestIds: [1] }),
    ]
    for (const answer of await Promise.all(gated))
      expect(answer).toMatchObject({ status: 403, body: { code: 'feature_not_in_plan' } })
    // The plan is checked before the input, so there is no 400.
    expect((await client.post(endpoint.at('/transformations'), {})).status).toBe(403)

    const open = [
      client.post(endpoint.at('/transformations/preview-set'), { rules: Array(25).fill(rule), sample: {} }),
      client.post('/api/v1/transformations/preview', { rule, sample: {} }),
      client.get(endpoint.at('/transformations')),
      client.get(endpoint.at(`/transformations/${id}`)),
      client.get(endpoint.at(`/transformations/${id}/versions`)),
      client.get('/api/v1/transformations/schema'),
      client.put(endpoint.at(`/transformations/${id}`), { enabled: false }),
      client.put(endpoint.at('/transformations/order'), { order: [id] }),
    ]
    for (const answer of await Promise.all(open)) expect(answer.status).toBe(200)
    expect((await client.delete(endpoint.at(`/transformations/${id}`))).status).toBeLessThan(300)
  })

  test('on channels and notify actions', async () => {
    const service = await startService({ limits: { alertChannelsMax: 0 } })
    const { alice } = service
    const endpoint = await alice.endpoint()
    const channel = { kind: 'webhook', name: 'Ops', settings: { url: 'http://127.0.0.1:9/' } }
    const notify = { kind: 'notify', alertChannelId: endpoint.id }
    for (const answer of [
      await alice.post('/api/v1/alert-channels', channel),
      await alice.post(endpoint.at('/actions'), notify),
    ])
      expect(answer).toMatchObject({ status: 403, body: { code: 'feature_not_in_plan' } })
    await service.stop()
  })

  test('on creating what a limit of 0 excludes, whatever else is wrong with the body', async () => {
    const none = { endpointsMax: 0, actionsMax: 0, watchdogsMax: 0 }
    const service = await startService({ planLimits: { solo: none } })
    const { alice, operator } = service
    const endpoint = await alice.endpoint()
    await operator.workspaces.setPlan({ workspace: alice.workspaceId, plan: 'solo' })
    for (const answer of [
      await alice.post('/api/v1/endpoints', { name: '' }),
      await alice.post(endpoint.at('/actions'), { kind: 'forward' }),
      await alice.post('/api/v1/watchdogs', { endpointId: endpoint.id }),
    ])
      expect(answer).toMatchObject({ status: 403, body: { code: 'feature_not_in_plan' } })
    await service.stop()
  })
})

test('an endpoint saved before the response rules can be changed in other members', async () => {
  const { alice } = service
  const endpoint = await alice.endpoint({ name: 'old' })
  const legacy = {
    responseStatusCode: 302,
    responseContentType: 'text/html',
    responseHeaders: { Location: 'https://elsewhere.example' },
  }
  await service.db
    .updateTable('endpoints')
    .set({ ...legacy, responseHeaders: JSON.stringify(legacy.responseHeaders) })
    .where('id', '=', endpoint.id)
    .execute()
  expect((await alice.get(endpoint.at(''))).body).toMatchObject(legacy)
  expect(await alice.patch(endpoint.at(''), { name: 'new' })).toMatchObject({
    status: 200,
    body: { name: 'new', ...legacy },
  })
  expect((await alice.patch(endpoint.at(''), { name: 'newer', ...legacy })).status).toBe(200)
  expect(await alice.patch(endpoint.at(''), { responseStatusCode: 301 })).toMatchObject({
    status: 400,
    body: { code: 'validation_failed' },
  })
  expect((await endpoint.send()).status).toBe(200)
})
