import { beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { wrongParts } from '../support/problems.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeWorld } from '../support/world.ts'

let service: TestService
beforeAll(async () => {
  service = await startService({ parts: ['gateway'] })
})

describe('pages', () => {
  const LISTS = [
    '/api/v1/endpoints',
    '/api/v1/recycle-bin',
    '/api/v1/alert-channels',
    '/api/v1/alert-channels/deliveries',
    '/api/v1/watchdogs',
  ]

  test.each(LISTS)('%s answers no items past its end, however far', async (path) => {
    for (const page of [2, 1_000_000_001, Number.MAX_SAFE_INTEGER]) {
      const answer = await service.alice.get(`${path}?page=${page}&pageSize=100`)
      expect(answer.status).toBe(200)
      expect(answer.body).toMatchObject({ items: [], page, pageSize: 100 })
    }
  })

  test.each(['requests', 'requests?method=POST', 'deliveries'])('so do %s of an endpoint', async (list) => {
    const endpoint = await service.alice.endpoint()
    await endpoint.capture()
    const separator = list.includes('?') ? '&' : '?'
    const answer = await service.alice.get(endpoint.at(`/${list}${separator}page=${Number.MAX_SAFE_INTEGER}`))
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ items: [], totalCount: list === 'deliveries' ? 0 : 1 })
  })
})

describe('what a problem names', () => {
  test('a member of the wrong type once, not as missing too', async () => {
    const endpoint = await service.alice.endpoint()
    const answer = await service.alice.post(endpoint.at('/actions'), { kind: 'forward', url: 5 })
    expect(wrongParts(answer)).toEqual(['#/url type'])
  })

  test('a text that holds NUL once, whatever else is wrong with it', async () => {
    const answer = await service.alice.post('/api/v1/endpoints', { name: 'a\0', provider: '\0' })
    expect(wrongParts(answer)).toEqual(['#/name not_allowed', '#/provider unknown_value'])
  })

  test('a null in a list as an item of the wrong type', async () => {
    const answer = await service.alice.post('/api/v1/recycle-bin/restore', { requestIds: [1, null] })
    expect(wrongParts(answer)).toEqual(['#/requestIds/1 type'])
  })

  test('a number that is no integer as of the wrong type', async () => {
    const answer = await service.alice.post('/api/v1/endpoints', {
      responseStatusCode: 200.5,
      ttlSeconds: 60.5,
    })
    expect(wrongParts(answer)).toEqual(['#/responseStatusCode type', '#/ttlSeconds type'])
  })
})

test('of several deletes at once, one deletes and the others find nothing', async () => {
  const { client, ids } = await makeWorld(service.alice)
  const endpoint = `/api/v1/endpoints/${ids.endpointId}`
  const paths = [
    `/api/v1/share-links/${ids.shareLinkId}`,
    `${endpoint}/requests/${ids.requestId}`,
    `${endpoint}/transformations/${ids.ruleId}`,
    `${endpoint}/actions/${ids.actionId}`,
    `/api/v1/watchdogs/${ids.watchdogId}`,
    `/api/v1/alert-channels/${ids.alertChannelId}`,
    endpoint,
  ]
  for (const path of paths) {
    const answers = await Promise.all(Array.from({ length: 6 }, () => client.delete(path)))
    expect([path, ...answers.map(({ status }) => status).sort()]).toEqual([path, 204, ...Array(5).fill(404)])
  }
})

test('ids are read in either case, wherever they stand', async () => {
  const { alice, operator } = service
  const { id: contact } = await operator.contacts.add({
    workspace: alice.workspaceId,
    email: 'ops@example.test',
  })
  const endpoint = await alice.endpoint()
  const { id: request } = await endpoint.capture()
  const made = async (path: string, body: unknown) =>
    (await alice.expect(alice.post(path, body), z.looseObject({ id: z.uuid() }))).id.toUpperCase()
  const channel = await made('/api/v1/alert-channels', {
    kind: 'webhook',
    name: 'Ops',
    settings: { url: 'http://127.0.0.1:9/' },
    events: [],
  })
  const action = await made(endpoint.at('/actions'), { kind: 'notify', alertChannelId: channel })
  const watchdog = await made('/api/v1/watchdogs', {
    endpointId: endpoint.id.toUpperCase(),
    expectedIntervalSeconds: 60,
    alertContactIds: [contact.toUpperCase()],
  })
  const answers = [
    await alice.post(endpoint.at(`/requests/${request}/replay?actionId=${action}`)),
    await alice.post(endpoint.at('/requests/bulk-replay'), { requestIds: [request], actionId: action }),
    await alice.put(endpoint.at(`/actions/${action}`), { alertChannelId: channel }),
    await alice.put(`/api/v1/watchdogs/${watchdog}`, { endpointId: endpoint.id.toUpperCase() }),
    await alice.get(`/api/v1/watchdogs/${watchdog}`),
  ]
  expect(answers.map(({ status }) => status)).toEqual([200, 202, 200, 200, 200])
  expect(answers[4]?.body).toMatchObject({ endpointId: endpoint.id, alertContactIds: [contact] })
})
