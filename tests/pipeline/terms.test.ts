import { beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { attemptsEnded } from '../support/attempts.ts'
import type { TestEndpoint } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { wrongParts } from '../support/problems.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'

/** The terms of a receiver: time limit, retries, and what its 410 does. */

const SECOND = 1000

let service: TestService
beforeAll(async () => {
  service = await startService({ limits: { retentionDays: 30 } })
})

const Action = z.looseObject({ id: z.string(), delivery: z.unknown() })

const forward = (endpoint: TestEndpoint, url: string, delivery: object | null) =>
  endpoint.client.expect(
    endpoint.client.post(endpoint.at('/actions'), { kind: 'forward', url, delivery }),
    Action,
  )

const attempts = (endpoint: TestEndpoint) =>
  service.db
    .selectFrom('deliveryAttempts')
    .where('endpointId', '=', endpoint.id)
    .selectAll()
    .orderBy('id')
    .execute()

/** Once `count` have ended. */
async function ended(endpoint: TestEndpoint, count: number) {
  await attemptsEnded(service, endpoint, count)
  return await attempts(endpoint)
}

/** Seconds from the beginning of each attempt to the end of its lease. */
const leases = async (endpoint: TestEndpoint) =>
  (await attempts(endpoint)).map(
    ({ at, leaseUntil }) => ((leaseUntil?.getTime() ?? 0) - at.getTime()) / SECOND,
  )

describe('the time limit of an attempt', () => {
  test('ends it after so many seconds', async () => {
    await using receiver = await startReceiver(() => {})
    const endpoint = await service.alice.endpoint()
    await forward(endpoint, receiver.url, { timeoutSeconds: 1 })
    await endpoint.capture()
    const [attempt] = await ended(endpoint, 1)
    expect(attempt).toMatchObject({ state: 'Errored', error: 'timeout: no response within 1000 ms' })
  })

  test('is well within its lease: of first attempts, retries and replays alike', async () => {
    await using receiver = await startReceiver({ status: 500 })
    const endpoint = await service.alice.endpoint()
    await forward(endpoint, receiver.url, { timeoutSeconds: 300, retry: { delays: ['5s'] } })
    const { id } = await endpoint.capture()
    await ended(endpoint, 1)
    await service.clock.advance(7 * SECOND)
    await ended(endpoint, 2)
    await service.alice.post(endpoint.at(`/requests/${id}/replay`))
    await service.alice.post(endpoint.at('/requests/bulk-replay'), { requestIds: [id] })
    await ended(endpoint, 4)
    expect(await leases(endpoint)).toEqual([1800, 1800, 1800, 1800])
  })

  test('without one a lease is 90 seconds', async () => {
    await using receiver = await startReceiver()
    const endpoint = await service.alice.endpoint()
    await forward(endpoint, receiver.url, null)
    await forward(endpoint, receiver.url, { gone: 'end' })
    await endpoint.capture()
    await ended(endpoint, 2)
    expect(await leases(endpoint)).toEqual([90, 90])
  })

  test('an inline replay waits for it, too', async () => {
    await using receiver = await startReceiver()
    const endpoint = await service.alice.endpoint()
    await forward(endpoint, receiver.url, { timeoutSeconds: 30 })
    const { id } = await endpoint.capture()
    await ended(endpoint, 1)
    const answered = Promise.withResolvers<void>()
    receiver.answer = (_, response) => {
      void answered.promise.then(() => response.end())
    }
    const replay = service.alice.post(endpoint.at(`/requests/${id}/replay`))
    await receiver.take(2)
    const scope = `replay:${service.alice.workspaceId}`
    const slot = await service.db
      .selectFrom('concurrencySlots')
      .where('scope', '=', scope)
      .select('endsAt')
      .executeTakeFirstOrThrow()
    expect(slot.endsAt.getTime() - service.clock.now().getTime()).toBeGreaterThan(30 * SECOND)
    answered.resolve()
    expect((await replay).body).toMatchObject({ state: 'Succeeded' })
  })
})

describe('retries', () => {
  test('follow the delays of the action, and no more of them', async () => {
    await using receiver = await startReceiver({ status: 500 })
    const endpoint = await service.alice.endpoint()
    await forward(endpoint, receiver.url, { retry: { delays: ['100s', '200s'] } })
    await endpoint.capture()
    const waits: number[] = []
    for (const [index, seconds] of [121, 241].entries()) {
      const attempt = (await ended(endpoint, index + 1)).at(-1)
      waits.push(((attempt?.nextAttemptAt?.getTime() ?? 0) - (attempt?.finishedAt?.getTime() ?? 0)) / SECOND)
      await service.clock.advance(seconds * SECOND)
    }
    expect(waits[0]).toBeWithin(80, 120.001)
    expect(waits[1]).toBeWithin(160, 240.001)
    const states = (await ended(endpoint, 3)).map(({ state }) => state)
    expect(states).toEqual(['Failed', 'Failed', 'DeadLetter'])
  })

  test('are made for the statuses that the action names, and for transport errors always', async () => {
    await using receiver = await startReceiver({ status: 404 })
    const endpoint = await service.alice.endpoint()
    await forward(endpoint, receiver.url, { retry: { on: [429, '5xx'] } })
    await forward(endpoint, 'http://127.0.0.1:9/', { retry: { on: [] } })
    await endpoint.capture()
    const byUrl = async (count: number) =>
      Object.fromEntries((await ended(endpoint, count)).map(({ url, state }) => [url, state]))
    expect(await byUrl(2)).toEqual({ [receiver.url]: 'DeadLetter', 'http://127.0.0.1:9/': 'Errored' })
    receiver.answer = { status: 502 }
    await endpoint.capture()
    expect((await byUrl(4))[receiver.url]).toBe('Failed')
  })

  test('an interrupted attempt counts by the delays of its action', async () => {
    await using receiver = await startReceiver(() => {})
    const endpoint = await service.alice.endpoint()
    await forward(endpoint, receiver.url, { retry: { delays: [] } })
    await endpoint.capture()
    await receiver.take(1)
    await service.clock.advance(91 * SECOND)
    await receiver.take(2)
    await service.clock.advance(91 * SECOND)
    const states = (await ended(endpoint, 2)).map(({ state }) => state)
    expect(states).toEqual(['Interrupted', 'DeadLetter'])
  })
})

describe('410', () => {
  const pausedAt = async (id: string) =>
    (await service.db.selectFrom('actions').where('id', '=', id).select('pausedAt').executeTakeFirstOrThrow())
      .pausedAt

  test('pauses an action that asks for it: once, with an audit entry and an alert', async () => {
    await using receiver = await startReceiver({ status: 410 })
    const endpoint = await service.alice.endpoint()
    const asking = await forward(endpoint, receiver.url, { gone: 'pause' })
    const other = await forward(endpoint, receiver.url, { gone: 'end' })
    await endpoint.capture()
    await ended(endpoint, 2)
    await eventually('the pause', async () => (await pausedAt(asking.id)) !== null)
    expect(await pausedAt(other.id)).toBeNull()
    const entries = await service.db
      .selectFrom('auditEntries')
      .where('action', '=', 'actions.pause')
      .where('endpointId', '=', endpoint.id)
      .select(['subjectId', 'actorKind', 'before', 'after'])
      .execute()
    expect(entries).toEqual([
      {
        subjectId: asking.id,
        actorKind: 'service',
        before: '{"pausedAt":null}',
        after: expect.stringMatching(/^\{"pausedAt":"20/),
      },
    ])
    const alerts = await service.db
      .selectFrom('alerts')
      .where('endpointId', '=', endpoint.id)
      .where('eventKind', '=', 'action.paused')
      .select(['subjectId', 'reason'])
      .execute()
    expect(alerts).toEqual([{ subjectId: asking.id, reason: expect.stringContaining('410 Gone') }])
  })

  test('is no pause for other failures', async () => {
    await using receiver = await startReceiver({ status: 404 })
    const endpoint = await service.alice.endpoint()
    const { id } = await forward(endpoint, receiver.url, { gone: 'pause', retry: { on: [] } })
    await endpoint.capture()
    expect((await ended(endpoint, 1)).map(({ state }) => state)).toEqual(['DeadLetter'])
    expect(await pausedAt(id)).toBeNull()
  })
})

describe('terms that contradict themselves are refused', () => {
  const PATH = '#/delivery'

  test.each([
    ['no time', { timeoutSeconds: 0 }, [`${PATH}/timeoutSeconds out_of_range`]],
    ['too much time', { timeoutSeconds: 301 }, [`${PATH}/timeoutSeconds out_of_range`]],
    ['a delay without a unit', { retry: { delays: ['5s', '5'] } }, [`${PATH}/retry/delays/1 bad_format`]],
    [
      'a delay past all requests',
      { retry: { delays: ['5s', '30d', '30d'] } },
      [`${PATH}/retry/delays/1 out_of_range`],
    ],
    ['too many delays', { retry: { delays: Array(51).fill('1s') } }, [`${PATH}/retry/delays too_many`]],
    ['a retry of 410', { retry: { on: ['5xx', 410] } }, [`${PATH}/retry/on/1 not_allowed`]],
    ['a retry of success', { retry: { on: [200] } }, [`${PATH}/retry/on/0 out_of_range`]],
    ['another end', { gone: 'delete' }, [`${PATH}/gone unknown_value`]],
  ])('%s', async (_, delivery, wrong) => {
    const endpoint = await service.alice.endpoint()
    const answer = await service.alice.post(endpoint.at('/actions'), {
      kind: 'forward',
      url: 'http://127.0.0.1:9/',
      delivery,
    })
    expect(answer.status).toBe(400)
    expect(wrongParts(answer)).toEqual(wrong)
  })
})
