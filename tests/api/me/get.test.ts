import { beforeAll, describe, expect, test } from 'bun:test'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService

beforeAll(async () => {
  service = await startService({
    planLimits: { pro: { endpointsMax: 7 }, solo: { apiRatePerMinute: 2 } },
  })
})

describe('GET /api/v1/me', () => {
  test('answers the key, its workspace, the plan and its limits, and never the key itself', async () => {
    const client = await service.newClient('pro')
    const answer = await client.get('/api/v1/me')
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      key: { name: 'test', prefix: client.key.slice(0, 17) },
      plan: { key: 'pro', displayName: 'Pro' },
      limits: { apiRatePerMinute: 600, endpointsMax: 7 },
    })
    expect(answer.text).not.toContain(client.key)
  })

  test('X-Api-Key is an equivalent fallback', async () => {
    const { alice } = service
    const headers = { Authorization: '', 'X-Api-Key': alice.key }
    const response = await fetch(`${alice.baseUrl}/api/v1/me`, {
      headers: { 'X-Api-Key': headers['X-Api-Key'] },
    })
    expect(response.status).toBe(200)
  })

  test('a revoked key answers 401, a plan without API 403', async () => {
    const { bob, operator } = service
    const client = await service.newClient()
    expect(await bob.get('/api/v1/me')).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
    await operator.workspaces.setPlan({ workspace: client.workspaceId, plan: 'free' })
    expect(await client.get('/api/v1/me')).toMatchObject({
      status: 403,
      body: { code: 'api_access_disabled' },
    })
  })

  test('a spent budget answers 429, and waiting as long as Retry-After says recovers', async () => {
    const client = await service.newClient('solo')
    expect((await client.get('/api/v1/me')).status).toBe(200)
    expect((await client.get('/api/v1/me')).status).toBe(200)
    const refused = await client.get('/api/v1/me')
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
    await service.clock.advance(Number(refused.headers.get('retry-after')) * 1000)
    expect((await client.get('/api/v1/me')).status).toBe(200)
  })
})
