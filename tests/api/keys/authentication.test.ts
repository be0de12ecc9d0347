import { beforeAll, describe, expect, test } from 'bun:test'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService

/** Budgets of the plans in this file. */
const planLimits = {
  solo: { apiRatePerMinute: 1 },
  pro: { apiRatePerMinute: 2 },
  'self-hosted': { apiRatePerMinute: 6 },
}

beforeAll(async () => {
  service = await startService({ planLimits })
})

const me = (headers: Readonly<Record<string, string>>) =>
  fetch(`${service.baseUrl}/api/v1/me`, { headers }).then((response) => response.status)

describe('the key', () => {
  test('is taken from Authorization, or from X-Api-Key where that holds no bearer key', async () => {
    const { key } = service.alice
    expect(await me({ Authorization: `Bearer ${key}` })).toBe(200)
    expect(await me({ Authorization: `bearer  ${key} ` })).toBe(200)
    expect(await me({ 'X-Api-Key': key })).toBe(200)
    expect(await me({ 'X-Api-Key': key, Authorization: 'Basic cHJveHk6cHJveHk=' })).toBe(200)
  })

  test('in Authorization wins over the one in X-Api-Key', async () => {
    const { key } = service.alice
    expect(await me({ Authorization: 'Bearer creel_live_wrong', 'X-Api-Key': key })).toBe(401)
    expect(await me({ Authorization: `Bearer ${key}`, 'X-Api-Key': 'creel_live_wrong' })).toBe(200)
  })

  test.each(['', 'Bearer', 'Bearer  ', 'Basic KEY', 'KEY', 'Bearer KEY KEY', 'Bearer KEYx', 'Bearer key'])(
    'Authorization: %s is no key',
    async (template) => {
      expect(await me({ Authorization: template.replaceAll('KEY', service.alice.key) })).toBe(401)
    },
  )

  test('in the query is no key', async () => {
    const { alice, baseUrl } = service
    expect((await fetch(`${baseUrl}/api/v1/me?api_key=${alice.key}&key=${alice.key}`)).status).toBe(401)
  })

  test('is revoked for the very next call, and for good', async () => {
    const dana = await service.newClient()
    expect((await dana.get('/api/v1/me')).status).toBe(200)
    await service.operator.keys.revoke({ workspace: dana.workspaceId, key: dana.key.slice(0, 17) })
    expect((await dana.get('/api/v1/me')).status).toBe(401)
  })
})

describe('the budget', () => {
  test('holds over two gateways that share a database', async () => {
    const { database, clock, secretKey } = service
    const other = await startService({ planLimits, database, clock, secretKey })
    const { key } = await service.newClient('self-hosted')
    const call = (baseUrl: string) =>
      fetch(`${baseUrl}/api/v1/me`, { headers: { 'X-Api-Key': key } }).then(({ status }) => status)
    const statuses = await Promise.all(
      Array.from({ length: 10 }, (_, at) => call(at % 2 === 0 ? service.baseUrl : other.baseUrl)),
    )
    expect(statuses.filter((status) => status === 200)).toHaveLength(6)
    expect(statuses.filter((status) => status === 429)).toHaveLength(4)
    await other.stop()
  })

  test('is a window that refused calls do not extend: Retry-After stays true however often one calls', async () => {
    const { clock } = service
    const client = await service.newClient('solo')
    expect((await client.get('/api/v1/me')).status).toBe(200)
    const first = await client.get('/api/v1/me')
    const seconds = Number(first.headers.get('retry-after'))
    expect(seconds).toBeWithin(58, 61)
    await clock.advance((seconds - 10) * 1000)
    for (let again = 0; again < 5; again += 1) {
      const refused = await client.get('/api/v1/me')
      expect(refused.status).toBe(429)
      expect(Number(refused.headers.get('retry-after'))).toBeWithin(8, 11)
    }
    await clock.advance(10_000)
    expect((await client.get('/api/v1/me')).status).toBe(200)
  })

  test('is of the key, not of the workspace; captures and open routes take nothing of it', async () => {
    const { baseUrl, operator } = service
    const client = await service.newClient('pro')
    const second = await operator.keys.create({ workspace: client.workspaceId, name: 'second' })
    const endpoint = await client.endpoint()
    for (let again = 0; again < 3; again += 1) {
      expect((await endpoint.send()).status).toBe(200)
      expect((await fetch(`${baseUrl}/openapi/v1.json`)).status).toBe(200)
    }
    expect((await client.get('/api/v1/me')).status).toBe(200)
    expect((await client.get('/api/v1/me')).status).toBe(429)
    const other = await fetch(`${baseUrl}/api/v1/me`, { headers: { 'X-Api-Key': second.key } })
    expect(other.status).toBe(200)
  })

  test('is spent before anything else is looked at', async () => {
    const client = await service.newClient('solo')
    await client.get('/api/v1/me')
    expect((await client.get('/api/v1/endpoints/unknown')).status).toBe(429)
    expect((await client.post('/api/v1/endpoints', { name: 7 })).status).toBe(429)
  })
})
