import { beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { z } from 'zod'
import type { Client, TestEndpoint } from '../support/client.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'

/** Order keys while rules for storing and encryption change: one key stays one key, and hides what is taken out. */

let service: TestService
let alice: Client

beforeAll(async () => {
  service = await startService({
    limits: { apiRatePerMinute: 100_000, endpointsMax: 1_000 },
    retryDelaysSeconds: [],
  })
  alice = service.alice
})

const CUSTOMER = 'ada@order.example'
const RULES = { storeRules: [{ op: 'remove', paths: ['body.customer'] }] }

async function ordered(receiver: Receiver, by: string, settings: object = {}) {
  const endpoint = await alice.endpoint({ ...settings })
  const Made = z.looseObject({ id: z.string(), warnings: z.array(z.string()).optional() })
  const action = await alice.expect(
    alice.post(endpoint.at('/actions'), {
      kind: 'forward',
      name: 'Ordered',
      url: receiver.url,
      delivery: { order: { by, onDeadLetter: 'hold' } },
    }),
    Made,
  )
  let count = 0
  return {
    endpoint,
    action,
    change: async (members: object) => expect((await alice.patch(endpoint.at(''), members)).status).toBe(200),
    capture: async () => {
      count += 1
      const body = JSON.stringify({ customer: CUSTOMER, type: CUSTOMER, n: count })
      return await endpoint.capture({ body, headers: { 'Content-Type': 'application/json' } })
    },
    keys: () => keysOf(endpoint),
  }
}

async function keysOf(endpoint: TestEndpoint): Promise<(string | null)[]> {
  const { rows } = await sql<{ orderKey: string | null }>`
    select order_key from deliveries where endpoint_id = ${endpoint.id} order by id`.execute(service.db)
  return rows.map(({ orderKey }) => orderKey)
}

const DIGEST = /^[0-9a-f]{64}$/

test.each([
  ['rules off', [RULES, { storeRules: [] }]],
  ['rules off and on', [RULES, { storeRules: [] }, RULES, { storeRules: [], dropHeaders: ['Cookie'] }]],
  [
    'rules, then encryption, then neither',
    [RULES, { encryptBodies: true }, { encryptBodies: false }, { storeRules: [] }],
  ],
  ['rules off, then encryption', [RULES, { storeRules: [] }, { encryptBodies: true }]],
  [
    'encryption, then rules, then neither',
    [{ encryptBodies: true }, RULES, { encryptBodies: false }, { storeRules: [] }],
  ],
  [
    'both at once',
    [
      { ...RULES, encryptBodies: true },
      { storeRules: [], encryptBodies: false },
    ],
  ],
])('deliveries that wait keep their order and their key hidden: %s', async (_, changes) => {
  await using receiver = await startReceiver({ status: 500 })
  const { capture, change, endpoint, keys } = await ordered(receiver, 'body.customer')
  await capture()
  await receiver.take(1)
  for (const [at, members] of changes.entries()) {
    await change(members)
    await capture()
    const stored = await keys()
    expect(stored).toHaveLength(at + 2)
    expect(new Set(stored).size).toBe(1)
    expect(stored[0]).toMatch(DIGEST)
  }
  receiver.answer = { status: 200 }
  const { items } = await alice.expect(
    alice.get(endpoint.at('/deliveries?state=DeadLetter')),
    z.object({ items: z.array(z.looseObject({ id: z.int() })) }),
  )
  expect((await alice.post(endpoint.at(`/deliveries/${items[0]?.id}/skip`))).status).toBe(200)
  await receiver.take(1 + changes.length)
  const order = receiver.received.map(
    ({ body }) => z.object({ n: z.int() }).parse(JSON.parse(String(body))).n,
  )
  expect(order).toEqual(order.toSorted((one, other) => one - other))
})

test('keys are shown again by the next change when no delivery has a digest', async () => {
  await using receiver = await startReceiver({ status: 500 })
  const { capture, change, endpoint, keys } = await ordered(receiver, 'body.customer', RULES)
  await capture()
  await receiver.take(1)
  await change({ storeRules: [] })
  await capture()
  expect(new Set(await keys()).size).toBe(1)
  await sql`delete from deliveries where endpoint_id = ${endpoint.id}`.execute(service.db)
  await change({ storeRules: [] })
  await capture()
  expect(await keys()).toEqual([CUSTOMER])
})

test.each([
  ['label', { storeRules: [{ op: 'redact', paths: ['body.type'] }] }],
  ['label', { storeRules: [{ op: 'keep', paths: ['body.n'] }] }],
  ['contentType', { dropHeaders: ['Content-Type'] }],
  ['headers.content-type', { dropHeaders: ['Content-Type'] }],
  ['body', { storeRules: [{ op: 'remove', paths: ['body.customer'] }] }],
])('an order by %s stores no key that shows what %j takes out', async (by, settings) => {
  await using receiver = await startReceiver({ status: 500 })
  const { action, capture, keys } = await ordered(receiver, by, settings)
  await capture()
  await receiver.take(1)
  expect(await keys()).toEqual([expect.stringMatching(DIGEST)])
  expect(action.warnings).toEqual([expect.stringContaining(`'Ordered' orders by ${by}`)])
})
