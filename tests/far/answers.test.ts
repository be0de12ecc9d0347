/** Relayed answers, when the database is far away, or silent. */
import { beforeAll, expect, test } from 'bun:test'
import { z } from 'zod'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { type FarDatabase, startFar } from '../support/far.ts'
import { type ReceiverAnswer, startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let far: FarDatabase

beforeAll(async () => {
  far = await startFar(await createTestDatabase())
  service = await startService({ database: far })
})

const WithId = z.looseObject({ id: z.string() })
const Requests = z.looseObject({
  items: z.array(
    z.looseObject({
      state: z.string(),
      answeredBy: z.looseObject({ note: z.string().nullable() }).nullable(),
    }),
  ),
})
const Attempts = z.looseObject({ items: z.array(z.looseObject({ state: z.string() })) })

async function relaying(answer: ReceiverAnswer, timeoutMs: number) {
  const { alice } = service
  const receiver = await startReceiver(answer)
  const endpoint = await alice.endpoint()
  const action = { kind: 'forward', url: receiver.url }
  const { id: actionId } = await alice.expect(alice.post(endpoint.at('/actions'), action), WithId)
  const answerFrom = { actionId, timeoutMs, fallback: { status: 503, body: 'later' } }
  await alice.expect(alice.patch(endpoint.at(''), { answerFrom }), WithId)
  return { receiver, endpoint }
}

test('a receiver answers through a database that is far away', async () => {
  const { receiver, endpoint } = await relaying({ status: 202, body: 'far' }, 10_000)
  await using _receiver = receiver
  const answers = await Promise.all(Array.from({ length: 8 }, () => endpoint.send()))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
})

test('the fallback is sent while the database is silent, and the delivery goes on afterwards', async () => {
  const answering = Promise.withResolvers<void>()
  const { receiver, endpoint } = await relaying((_request, response) => {
    void answering.promise.then(() => response.end('late'))
  }, 1000)
  await using _receiver = receiver
  const sent = endpoint.send()
  // The capture is committed.
  await receiver.take(1)
  far.path.isSilent = true
  try {
    expect((await sent).status).toBe(503)
  } finally {
    far.path.isSilent = false
    answering.resolve()
  }
  const { alice } = service
  await eventually('the delivery and the note', async () => {
    const { items } = await alice.expect(alice.get(endpoint.at('/requests')), Requests)
    return items[0]?.state === 'Succeeded' && items[0].answeredBy?.note === 'timeout'
  })
  const { items } = await alice.expect(alice.get(endpoint.at('/deliveries')), Attempts)
  expect(items).toMatchObject([{ state: 'Succeeded' }])
  expect(receiver.received).toHaveLength(1)
})
