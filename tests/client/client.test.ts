import { beforeAll, describe, expect, test } from 'bun:test'
import { type ApiClient, createApiClient } from '@creel/client'
import { startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { typesOf } from './generate.ts'

/** The API through a client that was generated from its description: what anybody's generated client sees. */

let service: TestService
let creel: ApiClient

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 100_000 } })
  creel = createApiClient(service.baseUrl, service.alice.key)
})

/** The data of an answer that must be a success. */
async function dataOf<Data>(call: Promise<{ data?: Data; error?: unknown }>): Promise<NonNullable<Data>> {
  const { data, error } = await call
  if (data === undefined || data === null) throw new Error(`The call was refused: ${JSON.stringify(error)}`)
  return data
}

test('the types are those of the promised description (`bun run openapi:snapshot`)', async () => {
  const snapshot = await Bun.file(new URL('../contract/snapshots/openapi.v1.json', import.meta.url)).json()
  const types = await Bun.file(new URL('./schema.d.ts', import.meta.url)).text()
  expect(types).toBe(await typesOf(JSON.stringify(snapshot)))
})

describe('the generated client', () => {
  test('from an endpoint to a transformed, forwarded and replayed webhook', async () => {
    await using receiver = await startReceiver()
    const { id: endpointId, url } = await dataOf(
      creel.POST('/api/v1/endpoints', { body: { name: 'generated', ttlSeconds: 600 } }),
    )
    const endpoint = { params: { path: { endpointId } } }
    const action = await dataOf(
      creel.POST('/api/v1/endpoints/{endpointId}/actions', {
        ...endpoint,
        body: { kind: 'forward', name: 'Billing', url: receiver.url, signingSecret: 'sixteen characters' },
      }),
    )
    expect(action.signing.signed).toBe(true)
    const rule = await dataOf(
      creel.POST('/api/v1/endpoints/{endpointId}/transformations', {
        ...endpoint,
        body: { version: 1, name: 'Slim', steps: [{ op: 'remove', paths: ['body.card'] }] },
      }),
    )
    expect(rule.version).toBe(1)

    const waiting = dataOf(
      creel.GET('/api/v1/endpoints/{endpointId}/requests/await', {
        params: { path: { endpointId }, query: { state: 'Succeeded', timeoutSeconds: 30 } },
      }),
    )
    await fetch(url, { method: 'POST', body: '{"id":1,"card":"4242"}' })
    const request = await waiting
    expect(request.body).toBe('{"id":1,"card":"4242"}')
    expect(request.deliveries.map(({ actionName, state }) => [actionName, state])).toEqual([
      ['Billing', 'Succeeded'],
    ])

    const replayed = await dataOf(
      creel.POST('/api/v1/endpoints/{endpointId}/requests/{requestId}/replay', {
        params: { path: { endpointId, requestId: request.id } },
      }),
    )
    expect(replayed).toMatchObject({ state: 'Succeeded', outcomes: [{ transformed: true }] })
    expect((await receiver.take(2)).map(({ body }) => body.toString())).toEqual(['{"id":1}', '{"id":1}'])

    const attempts = await dataOf(creel.GET('/api/v1/endpoints/{endpointId}/deliveries', endpoint))
    expect(attempts.items.map(({ trigger, state }) => [trigger, state])).toEqual([
      ['replay', 'Succeeded'],
      ['capture', 'Succeeded'],
    ])
  })

  test('pages, deletes and restores', async () => {
    const endpoint = await service.alice.endpoint()
    const [older, newer] = await endpoint.captureMany(2)
    const path = { endpointId: endpoint.id }
    const page = await dataOf(
      creel.GET('/api/v1/endpoints/{endpointId}/requests', {
        params: { path, query: { pageSize: 1, page: 2 } },
      }),
    )
    expect(page).toMatchObject({ totalCount: 2, totalPages: 2, items: [{ id: older?.id }] })
    const requestIds = [older?.id ?? 0, newer?.id ?? 0]
    const deleted = await dataOf(
      creel.POST('/api/v1/endpoints/{endpointId}/requests/bulk-delete', {
        params: { path },
        body: { requestIds },
      }),
    )
    expect(deleted.deletedCount).toBe(2)
    const restored = await dataOf(creel.POST('/api/v1/recycle-bin/restore', { body: { requestIds } }))
    expect(restored).toEqual({ restoredCount: 2, skippedAtCap: 0 })
  })

  test('sees refusals as typed problems', async () => {
    const { error, response } = await creel.POST('/api/v1/endpoints', { body: { ttlSeconds: 1 } })
    expect(response.status).toBe(400)
    expect(error?.code).toBe('validation_failed')
    expect(error?.errors?.map(({ pointer, code }) => [pointer, code])).toEqual([
      ['#/ttlSeconds', 'out_of_range'],
    ])
  })

  test('sets a watchdog and an alert channel', async () => {
    const { id: endpointId } = await service.alice.endpoint()
    const watchdog = await dataOf(
      creel.POST('/api/v1/watchdogs', { body: { endpointId, expectedIntervalSeconds: 3600 } }),
    )
    expect(watchdog).toMatchObject({ state: 'waiting', graceSeconds: 720 })
    const channel = await dataOf(
      creel.POST('/api/v1/alert-channels', {
        body: {
          kind: 'ntfy',
          name: 'phone',
          settings: { topic: 'alerts' },
          events: [{ kind: 'watchdog.alarmed' }],
        },
      }),
    )
    expect(channel).toMatchObject({ health: 'untested', connected: true })
  })
})
