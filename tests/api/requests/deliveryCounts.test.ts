import { beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { attemptsEnded } from '../../support/attempts.ts'
import type { TestEndpoint } from '../../support/client.ts'
import { openEvents } from '../../support/eventReader.ts'
import { startReceiver } from '../../support/receiver.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})

const Counted = z.looseObject({
  id: z.int(),
  state: z.string(),
  attemptCount: z.int(),
  deliveryCounts: z.strictObject({
    succeeded: z.int(),
    failed: z.int(),
    waiting: z.int(),
    deadLettered: z.int(),
  }),
})
const NONE = { succeeded: 0, failed: 0, waiting: 0, deadLettered: 0 }

async function forwardTo(endpoint: TestEndpoint, url: string, members: object = {}): Promise<string> {
  const body = { kind: 'forward', url, ...members }
  const made = service.alice.post(endpoint.at('/actions'), body)
  return (await service.alice.expect(made, z.looseObject({ id: z.string() }))).id
}

const listed = async (endpoint: TestEndpoint, query = '') =>
  z.array(Counted).parse(await endpoint.requests(query))
const idsOf = async (endpoint: TestEndpoint, query: string) =>
  (await listed(endpoint, query)).map(({ id }) => id)

/** An endpoint with an action that succeeds and one that fails for good. */
async function halfBroken() {
  const good = await startReceiver()
  const bad = await startReceiver({ status: 500 })
  const endpoint = await service.alice.endpoint()
  const actions = {
    good: await forwardTo(endpoint, good.url),
    bad: await forwardTo(endpoint, bad.url, { delivery: { retry: { delays: [] } } }),
  }
  const { id } = await endpoint.capture()
  await attemptsEnded(service, endpoint, 2)
  return { good, bad, endpoint, actions, id }
}

describe('deliveryCounts', () => {
  test('a replay to one action does not hide that another one failed', async () => {
    const { good, bad, endpoint, actions, id } = await halfBroken()
    await using _good = good
    await using _bad = bad
    await service.alice.post(endpoint.at(`/requests/${id}/replay?actionId=${actions.good}`))
    const counts = { ...NONE, succeeded: 1, deadLettered: 1 }
    const expected = { id, state: 'Succeeded', attemptCount: 3, deliveryCounts: counts }
    expect(await listed(endpoint)).toMatchObject([expected])
    expect((await service.alice.get(endpoint.at(`/requests/${id}`))).body).toMatchObject(expected)
    expect((await service.alice.get(`/api/v1/requests/${id}`)).body).toMatchObject(expected)
    expect((await service.alice.get(endpoint.at('/requests/export'))).text).toContain(
      `"deliveryCounts":${JSON.stringify({ succeeded: 1, failed: 0, waiting: 0, deadLettered: 1 })}`,
    )
    expect(await idsOf(endpoint, 'needsAttention=true')).toEqual([id])
    expect(await idsOf(endpoint, 'needsAttention=false')).toEqual([])
    const awaited = await service.alice.get(
      endpoint.at('/requests/await?needsAttention=true&timeoutSeconds=1'),
    )
    expect(awaited.body).toMatchObject(expected)

    bad.answer = { status: 200 }
    await service.alice.post(endpoint.at(`/requests/${id}/replay?actionId=${actions.bad}`))
    expect(await listed(endpoint)).toMatchObject([{ deliveryCounts: { ...NONE, succeeded: 2 } }])
    expect(await idsOf(endpoint, 'needsAttention=true')).toEqual([])
    expect(await idsOf(endpoint, 'needsAttention=false')).toEqual([id])
  })

  test('counts a failure that is retried as failed, and what was not tried as waiting', async () => {
    await using bad = await startReceiver({ status: 503 })
    const endpoint = await service.alice.endpoint()
    await forwardTo(endpoint, bad.url)
    const paused = await forwardTo(endpoint, bad.url)
    await service.alice.post(endpoint.at(`/actions/${paused}/pause`))
    const { id } = await endpoint.capture()
    await attemptsEnded(service, endpoint, 1)
    const [row] = await listed(endpoint)
    expect(row).toMatchObject({ id, state: 'Failed', deliveryCounts: { ...NONE, failed: 1, waiting: 1 } })
  })

  test('is zero without actions, and leaves out actions that were deleted', async () => {
    const { good, bad, endpoint, actions, id } = await halfBroken()
    await using _good = good
    await using _bad = bad
    await service.alice.delete(endpoint.at(`/actions/${actions.bad}`))
    expect(await listed(endpoint)).toMatchObject([{ id, deliveryCounts: { ...NONE, succeeded: 1 } }])
    expect(await idsOf(endpoint, 'needsAttention=true')).toEqual([])
    const plain = await service.alice.endpoint()
    await plain.capture()
    expect(await listed(plain)).toMatchObject([{ state: 'NotAttempted', deliveryCounts: NONE }])
  })

  test('leaves out edited requests: a changed body that is taken says nothing about the one that was not', async () => {
    const { good, bad, endpoint, actions, id } = await halfBroken()
    await using _good = good
    await using _bad = bad
    const send = (actionId: string) =>
      service.alice.post(endpoint.at(`/requests/${id}/send`), { actionId, body: 'another' })
    bad.answer = { status: 200 }
    expect((await send(actions.bad)).body).toMatchObject({ state: 'Succeeded', trigger: 'edited' })
    good.answer = { status: 500 }
    expect((await send(actions.good)).body).toMatchObject({ state: 'Failed', trigger: 'edited' })
    const deliveryCounts = { ...NONE, succeeded: 1, deadLettered: 1 }
    expect(await listed(endpoint)).toMatchObject([{ state: 'Failed', attemptCount: 4, deliveryCounts }])
    expect((await service.alice.get(endpoint.at(`/requests/${id}`))).body).toMatchObject({
      deliveryCounts,
      deliveries: [
        { actionId: actions.good, state: 'Succeeded' },
        { actionId: actions.bad, state: 'DeadLetter' },
      ],
    })
    expect(await idsOf(endpoint, 'needsAttention=true')).toEqual([id])
  })

  test('dead letters are found by action, and replayed only through theirs', async () => {
    const { good, bad, endpoint, actions, id } = await halfBroken()
    await using _good = good
    await using _bad = bad
    const changed = await service.alice.put(endpoint.at(`/actions/${actions.bad}`), {
      condition: { path: 'label', op: 'eq', value: 'never' },
    })
    expect(changed.status).toBe(200)
    const { id: other } = await endpoint.capture()
    await service.alice.post(endpoint.at(`/requests/${id}/replay?actionId=${actions.good}`))
    expect(await listed(endpoint, 'state=DeadLetter')).toEqual([])
    expect(await idsOf(endpoint, 'deadLettered=true')).toEqual([id])
    expect(await idsOf(endpoint, 'deadLettered=false')).toEqual([other])
    await attemptsEnded(service, endpoint, 4)
    expect(await idsOf(endpoint, 'needsAttention=false')).toEqual([other])
    const [atGood, atBad] = [good.received.length, bad.received.length]
    bad.answer = { status: 200 }
    const replayed = await service.alice.post(endpoint.at('/requests/bulk-replay'), {
      requestIds: [id, other],
      deadLettersOnly: true,
    })
    expect(replayed.body).toEqual({ queuedCount: 1, deliveryCount: 1, skippedCount: 1 })
    await attemptsEnded(service, endpoint, 5)
    expect([good.received.length, bad.received.length]).toEqual([atGood, atBad + 1])
    expect(await idsOf(endpoint, 'deadLettered=true')).toEqual([])
  })

  test('comes with the changes of a stream', async () => {
    await using good = await startReceiver()
    const endpoint = await service.alice.endpoint()
    await using stream = await openEvents(service.alice, endpoint.at('/requests/stream'))
    await forwardTo(endpoint, good.url)
    const { id } = await endpoint.capture()
    const Event = z.object({ requests: z.array(Counted).optional(), states: z.array(Counted).optional() })
    const seen = await stream.until((events) =>
      events
        .flatMap(({ data }) => [...(Event.parse(data).requests ?? []), ...(Event.parse(data).states ?? [])])
        .some((one) => one.id === id && one.deliveryCounts.succeeded === 1),
    )
    expect(seen.length).toBeGreaterThan(0)
  })

  test('refuses another value of needsAttention', async () => {
    const endpoint = await service.alice.endpoint()
    const { status, text } = await service.alice.get(endpoint.at('/requests?needsAttention=perhaps'))
    expect([status, text]).toEqual([400, expect.stringContaining('"parameter":"needsAttention"')])
  })
})
