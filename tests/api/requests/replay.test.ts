import { beforeAll, describe, expect, test } from 'bun:test'
import { createCreel } from 'creel-client'
import { sql } from 'kysely'
import { attemptsEnded } from '../../support/attempts.ts'
import type { Answer, TestEndpoint } from '../../support/client.ts'
import { eventually } from '../../support/eventually.ts'
import { holdUpWrites } from '../../support/heldWrites.ts'
import { isWaitingForLock } from '../../support/lockWaits.ts'
import { startReceiver } from '../../support/receiver.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService({ limits: { payloadBytesMax: 100 } })
})

const UNKNOWN = '7a0f8f0e-3d1e-4a43-9a57-0a7b3f2f9d11'
const membersOf = ({ body }: Answer): Record<string, unknown> => Object(body)
const refusal = (answer: Answer) => [answer.status, membersOf(answer).code]
const replay = (endpoint: TestEndpoint, id: number, query = '') =>
  endpoint.client.post(endpoint.at(`/requests/${id}/replay${query}`))
const bulk = (endpoint: TestEndpoint, body: object) =>
  endpoint.client.post(endpoint.at('/requests/bulk-replay'), body)

async function action(endpoint: TestEndpoint, members: object): Promise<string> {
  const answer = await endpoint.client.post(endpoint.at('/actions'), { kind: 'forward', ...members })
  return String(membersOf(answer).id)
}

describe('POST …/requests/{requestId}/replay', () => {
  test('the only outcome stands at the top, too', async () => {
    await using bad = await startReceiver({ status: 500 })
    const endpoint = await service.alice.endpoint({ forwardUrl: bad.url })
    const request = await endpoint.capture()
    const { attemptId, statusCode, error, state, outcomes } = membersOf(await replay(endpoint, request.id))
    expect([state, statusCode, error]).toEqual(['Failed', 500, 'http_500'])
    expect(outcomes).toEqual([expect.objectContaining({ attemptId, state, statusCode, error })])
    expect(attemptId).toBeNumber()
  })

  test('an only action that is skipped has no attempt at the top either', async () => {
    const endpoint = await service.alice.endpoint()
    await action(endpoint, { url: 'http://127.0.0.1:9/', condition: { path: 'body.type', op: 'exists' } })
    const request = await endpoint.capture()
    expect((await replay(endpoint, request.id)).body).toMatchObject({
      state: 'Skipped',
      attemptId: null,
      statusCode: null,
      error: null,
    })
  })

  test('tries every switched-on action once and answers in position order; a mismatch is skipped', async () => {
    await using good = await startReceiver()
    await using bad = await startReceiver({ status: 500 })
    const endpoint = await service.alice.endpoint()
    const request = await endpoint.capture({ body: '{"type":"paid"}' })
    const a = await action(endpoint, { name: 'a', url: bad.url })
    const b = await action(endpoint, { name: 'b', url: good.url })
    const c = await action(endpoint, {
      name: 'c',
      url: good.url,
      condition: { path: 'body.type', op: 'eq', value: 'refunded' },
    })
    await action(endpoint, { name: 'off', url: good.url, isActive: false })

    const answer = await replay(endpoint, request.id)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      requestId: request.id,
      state: 'Failed',
      attemptId: null,
      statusCode: null,
      error: null,
      outcomes: [
        expect.objectContaining({
          actionId: a,
          actionName: 'a',
          kind: 'forward',
          state: 'Failed',
          statusCode: 500,
          error: 'http_500',
          url: bad.url,
        }),
        expect.objectContaining({ actionId: b, state: 'Succeeded', statusCode: 200, error: null }),
        {
          actionId: c,
          actionName: 'c',
          kind: 'forward',
          attemptId: null,
          state: 'Skipped',
          statusCode: null,
          error: null,
          url: null,
          at: null,
          durationMs: null,
          transformed: false,
          transformationVersion: null,
        },
      ],
    })
    expect([good.received.length, bad.received.length]).toEqual([1, 1])
    const { items } = Object((await service.alice.get(endpoint.at('/deliveries'))).body)
    expect(items.map((item: Record<string, unknown>) => [item.trigger, item.nextAttemptAt])).toEqual([
      ['replay', null],
      ['replay', null],
    ])
  })

  test('with actionId its condition is not consulted, and the others are left alone', async () => {
    await using receiver = await startReceiver()
    const endpoint = await service.alice.endpoint()
    const request = await endpoint.capture()
    await action(endpoint, { url: receiver.url })
    const picky = await action(endpoint, {
      url: receiver.url,
      condition: { path: 'method', op: 'eq', value: 'GET' },
    })
    const answer = await replay(endpoint, request.id, `?actionId=${picky}`)
    expect(membersOf(answer)).toMatchObject({ state: 'Succeeded', outcomes: [{ actionId: picky }] })
    expect(receiver.received).toHaveLength(1)
  })

  test('a request that is deleted during the send is answered with the outcome all the same', async () => {
    const mayAnswer = Promise.withResolvers<void>()
    await using receiver = await startReceiver(async (_, response) => {
      await mayAnswer.promise
      response.end()
    })
    const endpoint = await service.alice.endpoint()
    const request = await endpoint.capture()
    const actionId = await action(endpoint, { url: receiver.url })
    const replaying = replay(endpoint, request.id)
    await receiver.take(1)
    expect((await service.alice.delete(endpoint.at(`/requests/${request.id}`))).status).toBeLessThan(300)
    mayAnswer.resolve()
    const { state, attemptId, outcomes } = membersOf(await replaying)
    expect({ state, outcomes }).toMatchObject({
      state: 'Succeeded',
      outcomes: [{ actionId, attemptId, state: 'Succeeded', statusCode: 200 }],
    })
    expect(attemptId).toBeNumber()
    expect((await service.alice.get(endpoint.at('/deliveries'))).body).toMatchObject({ items: [] })
  })

  test.each(['replay', 'send'] as const)(
    'what a %s has sent is recorded, and not sent again, where the database fails meanwhile',
    async (verb) => {
      const { baseUrl, db } = service
      // Another client, since the slots of these calls may stay until they end by themselves.
      const client = await service.newClient()
      await using receiver = await startReceiver()
      const endpoint = await client.endpoint()
      const { id: requestId } = await endpoint.capture()
      const actionId = await action(endpoint, { url: receiver.url })
      const creel = createCreel({ url: baseUrl, key: client.key })
      await using held = await holdUpWrites(db, 'update on delivery_attempts')
      const answer = creel.calls.requests[verb]({ endpointId: endpoint.id, requestId, actionId })
      await held.arrived()
      await held.breakOff()
      await held.release()
      expect(await answer).toMatchObject({ state: 'Succeeded' })
      expect(receiver.received).toHaveLength(1)
    },
  )

  test.each([
    ['reduced to a trace', sql`update requests set redaction = '{}'`, 503],
    ['deleted', sql`delete from requests`, 404],
  ] as const)('a request that is %s before it is sent is not sent', async (_, change, status) => {
    const { alice, db } = service
    await using receiver = await startReceiver()
    const endpoint = await alice.endpoint({ forwardUrl: receiver.url })
    const request = await endpoint.capture()
    await receiver.take(1)
    await attemptsEnded(service, endpoint)
    const { answer } = await db.transaction().execute(async (trx) => {
      await sql`${change} where endpoint_id = ${endpoint.id} and id = ${request.id}`.execute(trx)
      const answer = replay(endpoint, request.id)
      await eventually('the replay waits', () => isWaitingForLock(db))
      return { answer }
    })
    expect((await answer).status).toBe(status)
    expect(receiver.received).toHaveLength(1)
  })

  test('nothing matches: Skipped, without a row', async () => {
    const endpoint = await service.alice.endpoint()
    const request = await endpoint.capture()
    await action(endpoint, {
      url: 'http://127.0.0.1:9/',
      condition: { path: 'method', op: 'eq', value: 'GET' },
    })
    expect(membersOf(await replay(endpoint, request.id))).toMatchObject({ state: 'Skipped' })
    expect(membersOf(await service.alice.get(endpoint.at('/deliveries')))).toMatchObject({ totalCount: 0 })
  })

  test('a transport failure is a 200, and the request shows the latest state', async () => {
    await using receiver = await startReceiver()
    const endpoint = await service.alice.endpoint({ forwardUrl: receiver.url })
    const request = await endpoint.capture()
    await attemptsEnded(service, endpoint)
    receiver.answer = (_, response) => response.destroy()
    expect(membersOf(await replay(endpoint, request.id))).toMatchObject({ state: 'Errored' })
    const [row] = await endpoint.requests()
    expect(row).toMatchObject({ state: 'Errored', attemptCount: 2 })
    const detail = membersOf(await service.alice.get(endpoint.at(`/requests/${request.id}`)))
    expect(detail.deliveries).toEqual([
      expect.objectContaining({ state: 'Errored', attemptCount: 2, nextAttemptAt: null, kind: 'forward' }),
    ])
  })

  test('every refusal has its own code', async () => {
    const endpoint = await service.alice.endpoint()
    const request = await endpoint.capture()
    expect(refusal(await replay(endpoint, request.id))).toEqual([400, 'forwarding_disabled'])
    const off = await action(endpoint, { url: 'http://127.0.0.1:9/', isActive: false })
    expect(refusal(await replay(endpoint, request.id))).toEqual([400, 'forwarding_disabled'])
    expect(refusal(await replay(endpoint, request.id, `?actionId=${off}`))).toEqual([400, 'action_inactive'])
    expect(refusal(await replay(endpoint, request.id, `?actionId=${UNKNOWN}`))).toEqual([404, 'not_found'])
    expect(refusal(await replay(endpoint, request.id, '?actionId=x'))).toEqual([400, 'validation_failed'])
    expect(refusal(await replay(endpoint, 999_999))).toEqual([404, 'not_found'])
    const other = await service.alice.endpoint()
    const foreign = await action(other, { url: 'http://127.0.0.1:9/' })
    expect(refusal(await replay(endpoint, request.id, `?actionId=${foreign}`))).toEqual([404, 'not_found'])
    expect((await service.charlie.post(endpoint.at(`/requests/${request.id}/replay`))).status).toBe(404)
  })

  test('an oversize trace cannot be replayed', async () => {
    const endpoint = await service.alice.endpoint({ forwardUrl: 'http://127.0.0.1:9/' })
    const request = await endpoint.capture({ body: 'x'.repeat(101) })
    expect(refusal(await replay(endpoint, request.id))).toEqual([400, 'validation_failed'])
  })

  test('ten run at once in a workspace; one more is told when to come back', async () => {
    const held: (() => void)[] = []
    await using receiver = await startReceiver((_, response) => held.push(() => response.end()))
    const endpoint = await service.alice.endpoint()
    const request = await endpoint.capture()
    await action(endpoint, { url: receiver.url })
    const running = Array.from({ length: 10 }, () => replay(endpoint, request.id))
    await receiver.take(10)
    const refused = await replay(endpoint, request.id)
    expect(refusal(refused)).toEqual([429, 'rate_limited'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    for (const end of held) end()
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual(Array(10).fill(200))
  })
})

describe('POST …/requests/bulk-replay', () => {
  test('queues what matches, with the trigger bulkReplay, and counts what it passes over', async () => {
    await using receiver = await startReceiver()
    const endpoint = await service.alice.endpoint()
    const paid = await endpoint.capture({ body: '{"type":"paid"}' })
    const other = await endpoint.capture({ body: '{"type":"other"}' })
    const binned = await endpoint.capture({ body: '{"type":"paid"}' })
    const oversize = await endpoint.capture({ body: 'x'.repeat(101) })
    await service.alice.delete(endpoint.at(`/requests/${binned.id}`))
    const condition = { path: 'body.type', op: 'eq', value: 'paid' }
    await action(endpoint, { name: 'one', url: receiver.url, condition })
    const two = await action(endpoint, { name: 'two', url: receiver.url, condition })

    const requestIds = [paid.id, paid.id, other.id, binned.id, oversize.id, 999_999]
    const answer = await bulk(endpoint, { requestIds })
    expect(answer.status).toBe(202)
    expect(answer.body).toEqual({ queuedCount: 1, deliveryCount: 2, skippedCount: 4 })
    await attemptsEnded(service, endpoint, 2)
    expect(receiver.received.map((one) => one.header('creel-request-id'))).toEqual([
      String(paid.id),
      String(paid.id),
    ])

    expect((await bulk(endpoint, { requestIds, actionId: two })).body).toEqual({
      queuedCount: 2,
      deliveryCount: 2,
      skippedCount: 3,
    })
    await attemptsEnded(service, endpoint, 4)
    const { items } = Object((await service.alice.get(endpoint.at('/deliveries'))).body)
    expect(items.map((item: Record<string, unknown>) => item.trigger)).toEqual(Array(4).fill('bulkReplay'))
  })

  test.each([
    [{ requestIds: [] }],
    [{ requestIds: ['x'] }],
    [{ requestIds: Array.from({ length: 501 }, (_, at) => at + 1) }],
    [{}],
  ])('%j is refused', async (body) => {
    const endpoint = await service.alice.endpoint({ forwardUrl: 'http://127.0.0.1:9/' })
    expect(refusal(await bulk(endpoint, body))).toEqual([400, 'validation_failed'])
  })

  test('refuses like a single replay, and needs the plan first', async () => {
    const endpoint = await service.alice.endpoint()
    expect(refusal(await bulk(endpoint, { requestIds: [1] }))).toEqual([400, 'forwarding_disabled'])
    expect(refusal(await bulk(endpoint, { requestIds: [1], actionId: UNKNOWN }))).toEqual([404, 'not_found'])
    const solo = await service.newClient('solo')
    const theirs = await solo.endpoint()
    expect(refusal(await bulk(theirs, {}))).toEqual([403, 'feature_not_in_plan'])
  })
})
