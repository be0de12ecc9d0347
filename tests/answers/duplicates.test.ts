/** Relayed answers to duplicates of an event: those of the first request's first attempt. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import type { Client, TestEndpoint } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { type ReceiverAnswer, startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let alice: Client

beforeAll(async () => {
  service = await startService({ retryDelaysSeconds: [1000] })
  alice = service.alice
})

const WithId = z.looseObject({ id: z.string() })
const AnsweredBy = z.object({ kind: z.string(), index: z.int().nullable(), note: z.string().nullable() })
const Requests = z.looseObject({
  items: z.array(z.looseObject({ id: z.int(), answeredBy: AnsweredBy.nullable() })),
})

const FALLBACK = { status: 503, body: 'later' }
const text = (body: string): ReceiverAnswer => ({
  status: 200,
  headers: { 'Content-Type': 'text/plain' },
  body,
})

async function relaying(url: string, then: string, action: Readonly<Record<string, unknown>> = {}) {
  const endpoint = await alice.endpoint({
    eventIdPath: 'body.id',
    dedupe: { by: 'event', windowSeconds: 3600, then },
  })
  const { id } = await alice.expect(
    alice.post(endpoint.at('/actions'), { kind: 'forward', url, ...action }),
    WithId,
  )
  // Nothing below waits for it: a test that did would take longer than tests may.
  const answerFrom = { actionId: id, timeoutMs: 10_000, fallback: FALLBACK }
  await alice.expect(alice.patch(endpoint.at(''), { answerFrom }), WithId)
  return endpoint
}

const send = async (endpoint: TestEndpoint, body = '{"id":"evt_1"}') => {
  const answer = await endpoint.send({ body })
  return { status: answer.status, body: await answer.text() }
}

const notes = async (endpoint: TestEndpoint) =>
  (await alice.expect(alice.get(endpoint.at('/requests')), Requests)).items.map((item) => item.answeredBy)

describe.each(['skip', 'discard'])('a duplicate with `then: %s`', (then) => {
  test('gets the answer to its first, of which there is no second attempt', async () => {
    await using receiver = await startReceiver(text('one'))
    const endpoint = await relaying(receiver.url, then)
    expect(await send(endpoint)).toEqual({ status: 200, body: 'one' })
    receiver.answer = text('two')
    expect(await send(endpoint)).toEqual({ status: 200, body: 'one' })
    expect(receiver.received).toHaveLength(1)
    const answered = { kind: 'action', index: null, note: null }
    expect(await notes(endpoint)).toEqual(then === 'skip' ? [answered, answered] : [answered])
  })

  test('waits for the attempt of its first that is under way', async () => {
    const answering = Promise.withResolvers<void>()
    await using receiver = await startReceiver((_request, response) => {
      void answering.promise.then(() => response.writeHead(200, { 'Content-Type': 'text/plain' }).end('one'))
    })
    const endpoint = await relaying(receiver.url, then)
    const first = send(endpoint)
    await receiver.take(1)
    const second = send(endpoint)
    await eventually('the duplicate', async () => {
      const { items } = await alice.expect(alice.get(endpoint.at('/requests')), Requests)
      const stats = await alice.get(endpoint.at('/stats'))
      return items.length === 2 || /"discardedCount":1/.test(stats.text)
    })
    answering.resolve()
    expect(await Promise.all([first, second])).toEqual([
      { status: 200, body: 'one' },
      { status: 200, body: 'one' },
    ])
    expect(receiver.received).toHaveLength(1)
  })

  test('gets the answer to its first whichever of both the condition of the action matches', async () => {
    await using receiver = await startReceiver(text('one'))
    const endpoint = await relaying(receiver.url, then, {
      condition: { path: 'body.go', op: 'eq', value: true },
    })
    const own = { status: 200, body: '{"ok":true}' }
    expect(await send(endpoint, '{"id":"evt_1","go":true}')).toEqual({ status: 200, body: 'one' })
    expect(await send(endpoint, '{"id":"evt_1","go":false}')).toEqual({ status: 200, body: 'one' })
    expect(await send(endpoint, '{"id":"evt_2","go":false}')).toEqual(own)
    expect(await send(endpoint, '{"id":"evt_2","go":false}')).toEqual(own)
  })

  test('gets the fallback at once if its first has got it', async () => {
    await using receiver = await startReceiver({ status: 500 })
    const endpoint = await relaying(receiver.url, then)
    expect(await send(endpoint)).toEqual(FALLBACK)
    expect(await send(endpoint)).toEqual(FALLBACK)
    expect((await notes(endpoint))[0]).toEqual({ kind: 'fallback', index: null, note: 'http_500' })
  })

  test('gets the fallback at once if its first has no attempt', async () => {
    await using receiver = await startReceiver(text('one'))
    const condition = { path: 'body.paid', op: 'eq', value: true }
    const endpoint = await relaying(receiver.url, then, { condition })
    expect((await send(endpoint)).body).toBe('{"ok":true}')
    expect(await send(endpoint, '{"id":"evt_1","paid":true}')).toEqual(FALLBACK)
    if (then === 'skip')
      expect((await notes(endpoint))[0]).toEqual({ kind: 'fallback', index: null, note: 'no_attempt' })
    expect(receiver.received).toHaveLength(0)
  })
})

test('a duplicate that is only marked is delivered, and its own attempt answers', async () => {
  await using receiver = await startReceiver(text('one'))
  const endpoint = await relaying(receiver.url, 'mark')
  expect((await send(endpoint)).body).toBe('one')
  receiver.answer = text('two')
  expect((await send(endpoint)).body).toBe('two')
})
