import { beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Answer } from '../support/client.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeWorld, type World } from '../support/world.ts'

/**
 * Ids in queries and bodies: one of another workspace gets the same answer as one that does not exist. Ids in paths are
 * tested in api/everyRoute.test.ts.
 */

let service: TestService
let mine: World
let theirs: World

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 1_000_000 } })
  mine = await makeWorld(service.alice)
  theirs = await makeWorld(service.charlie)
})

/** Returns an id of a world, or one that does not exist. */
type Ids = (name: string) => string | number

const UNKNOWN_INT64 = 8_999_999_999_999
const unknown: Ids = (name) => (isNumber(name) ? UNKNOWN_INT64 : randomUUID())
const idsOf =
  ({ ids }: World): Ids =>
  (name) =>
    isNumber(name) ? Number(ids[name]) : (ids[name] ?? '')
const isNumber = (name: string) => name === 'requestId' || name === 'attemptId'

const RULE = { version: 1, name: 'r', steps: [{ op: 'remove', paths: ['body.x'] }] }

/** Calls with ids outside of the path. */
const CALLS: Readonly<Record<string, (ids: Ids) => Promise<Answer>>> = {
  'watchdog of an endpoint': (ids) =>
    service.alice.post('/api/v1/watchdogs', { endpointId: ids('endpointId'), expectedIntervalSeconds: 60 }),
  'suggestion for an endpoint': (ids) =>
    service.alice.get(`/api/v1/watchdogs/suggest?endpointId=${ids('endpointId')}`),
  'labels of an endpoint': (ids) =>
    service.alice.get(`/api/v1/watchdogs/labels?endpointId=${ids('endpointId')}`),
  'alert contacts of a watchdog': (ids) =>
    service.alice.post('/api/v1/watchdogs', {
      endpointId: mine.ids.endpointId,
      expectedIntervalSeconds: 60,
      alertContactIds: [ids('contactId')],
    }),
  'channel of an action': (ids) =>
    service.alice.post(at('/actions'), { kind: 'notify', alertChannelId: ids('alertChannelId') }),
  'action of a replay': (ids) =>
    service.alice.post(at(`/requests/${mine.ids.requestId}/replay?actionId=${ids('actionId')}`)),
  'action of a bulk replay': (ids) =>
    service.alice.post(at('/requests/bulk-replay'), {
      requestIds: [Number(mine.ids.requestId)],
      actionId: ids('actionId'),
    }),
  'requests of a bulk replay': (ids) =>
    service.alice.post(at('/requests/bulk-replay'), { requestIds: [ids('requestId')] }),
  'requests of a bulk deletion': (ids) =>
    service.alice.post(at('/requests/bulk-delete'), { requestIds: [ids('requestId')] }),
  'requests to restore': (ids) =>
    service.alice.post('/api/v1/recycle-bin/restore', { requestIds: [ids('requestId')] }),
  'endpoint of the recycle bin': (ids) =>
    service.alice.get(`/api/v1/recycle-bin?endpointId=${ids('endpointId')}`),
  'channel of the alert history': (ids) =>
    service.alice.get(`/api/v1/alert-channels/deliveries?channelId=${ids('alertChannelId')}`),
  'request of the deliveries': (ids) => service.alice.get(at(`/deliveries?requestId=${ids('requestId')}`)),
  'destination of the rules': (ids) => service.alice.get(at(`/transformations?actionId=${ids('actionId')}`)),
  'destination of a new rule': (ids) =>
    service.alice.post(at(`/transformations?actionId=${ids('actionId')}`), RULE),
  'order of the rules': (ids) => service.alice.put(at('/transformations/order'), { order: [ids('ruleId')] }),
  'endpoint and request of a preview': (ids) =>
    service.alice.post('/api/v1/transformations/preview', {
      rule: RULE,
      endpointId: ids('endpointId'),
      requestId: ids('requestId'),
    }),
  'request of a preview': (ids) =>
    service.alice.post(at('/transformations/preview-set'), { requestId: ids('requestId') }),
  'rule of a preview': (ids) =>
    service.alice.post(at('/transformations/preview-set'), {
      rules: [{ ruleId: ids('ruleId') }],
      sample: { body: '{}' },
    }),
}

const at = (path: string) => `/api/v1/endpoints/${mine.ids.endpointId}${path}`

/** The answer without the parts that differ between any two calls: the traceId and the requested id. */
function comparable({ status, body }: Answer, asked: Ids): string {
  const { traceId: _, ...rest } = z.looseObject({}).parse(body)
  const names = ['endpointId', 'alertChannelId', 'actionId', 'ruleId', 'contactId', 'requestId']
  let text = JSON.stringify([status, rest])
  for (const name of names) text = text.replaceAll(String(asked(name)), `<${name}>`)
  return text
}

describe('an id that another workspace owns answers like one that nobody does', () => {
  test.each(Object.keys(CALLS))('%s', async (name) => {
    const call = CALLS[name]
    if (call === undefined) throw new Error(name)
    const contact = await service.operator.contacts.add({
      workspace: service.charlie.workspaceId,
      email: `${randomUUID()}@example.com`,
    })
    const foreignIds: Ids = (of) => (of === 'contactId' ? contact.id : idsOf(theirs)(of))
    const nobodys = new Map<string, string | number>()
    const unknownIds: Ids = (of) => {
      const id = nobodys.get(of) ?? unknown(of)
      nobodys.set(of, id)
      return id
    }
    const foreign = comparable(await call(foreignIds), foreignIds)
    expect(foreign).toBe(comparable(await call(unknownIds), unknownIds))
  })

  test('and nothing of it has changed', async () => {
    const { ids, client } = theirs
    const requests = await client.get(`/api/v1/endpoints/${ids.endpointId}/requests`)
    expect(requests.body).toMatchObject({ totalCount: 1 })
    expect(await client.get('/api/v1/watchdogs')).toMatchObject({ body: { totalCount: 1 } })
    const rules = await client.get(`/api/v1/endpoints/${ids.endpointId}/transformations`)
    expect(rules.body).toMatchObject({ rules: [{ id: ids.ruleId, version: 1 }] })
  })
})

describe('lists hold what is of the workspace only', () => {
  test.each(['/api/v1/endpoints', '/api/v1/alert-channels', '/api/v1/watchdogs', '/api/v1/recycle-bin'])(
    '%s',
    async (path) => {
      const texts = await Promise.all([service.alice, service.charlie].map((one) => one.get(path)))
      const [alices, charlies] = texts
      for (const id of Object.values(theirs.ids).filter((one) => one.length > 10))
        expect(alices?.text).not.toContain(id)
      for (const id of Object.values(mine.ids).filter((one) => one.length > 10))
        expect(charlies?.text).not.toContain(id)
    },
  )
})
