import { expect, test } from 'bun:test'
import { startReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'

const LANES = 14
/** More deliveries than a process has slots. */
const CAPTURES = 125
const BYSTANDER = 60
/** Slots that one workspace gets at least while it is alone. */
const SLOTS_OF_ONE = 1000

/** Captures in pieces, so that no limit of connections is met. */
async function send(endpoint: { send(): Promise<Response> }, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent += 25) {
    const answers = await Promise.all(
      Array.from({ length: Math.min(25, count - sent) }, () => endpoint.send()),
    )
    for (const answer of answers) await answer.body?.cancel()
  }
}

test('fourteen actions of receivers that answer after minutes leave slots for another workspace', async () => {
  await using slow = await startReceiver(() => {})
  let failures = 0
  await using live = await startReceiver((_request, response) => {
    // Each delivery is retried once: by a look at its lane, and not handed over by its capture.
    failures += 1
    response.writeHead(failures <= BYSTANDER ? 503 : 200).end()
  })
  const { alice, newClient } = await startService({
    limits: { captureRatePerMinute: 100_000 },
    retryDelaysSeconds: [1, 1],
  })
  const attacked = await alice.endpoint()
  for (let at = 0; at < LANES; at += 1) {
    const action = { kind: 'forward', name: `slow ${at}`, url: slow.url, delivery: { timeoutSeconds: 300 } }
    expect((await alice.post(attacked.at('/actions'), action)).status).toBe(201)
  }
  await send(attacked, CAPTURES)
  // They hold all slots that one workspace may hold.
  await slow.take(SLOTS_OF_ONE)

  const other = await newClient()
  const bystander = await other.endpoint({ forwardUrl: live.url })
  await send(bystander, BYSTANDER)
  await live.take(2 * BYSTANDER)
  expect(new Set(live.received.map((one) => one.header('creel-request-id'))).size).toBe(BYSTANDER)
})

test('governed actions that hold many slots leave some for the flow of another workspace', async () => {
  await using slow = await startReceiver(() => {})
  await using live = await startReceiver()
  const { alice, newClient } = await startService({ limits: { captureRatePerMinute: 100_000 } })
  const delivery = { timeoutSeconds: 300, concurrency: 512 }
  const attacked = await alice.endpoint()
  for (let at = 0; at < LANES; at += 1) {
    const action = { kind: 'forward', name: `slow ${at}`, url: slow.url, delivery }
    expect((await alice.post(attacked.at('/actions'), action)).status).toBe(201)
  }
  await send(attacked, CAPTURES)
  await slow.take(SLOTS_OF_ONE)

  const other = await newClient()
  const bystander = await other.endpoint()
  const action = { kind: 'forward', name: 'live', url: live.url, delivery: { order: { by: 'endpoint' } } }
  expect((await other.post(bystander.at('/actions'), action)).status).toBe(201)
  await send(bystander, BYSTANDER)
  const received = await live.take(BYSTANDER)
  const ids = received.map((one) => Number(one.header('creel-request-id')))
  expect(ids).toEqual(ids.toSorted((a, b) => a - b))
})
