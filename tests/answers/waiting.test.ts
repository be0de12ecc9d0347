/** Answers that wait: how many, whose places are free when senders leave, and what is answered without a place. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { z } from 'zod'
import type { Client, TestEndpoint } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { isWaitingForLock } from '../support/lockWaits.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { type SocketSender, sendBySocket } from './socketSender.ts'

/** Half of the connections may wait, and half of these for one workspace. */
const CONNECTIONS = 80
const OF_WORKSPACE = 20

let service: TestService
let alice: Client

beforeAll(async () => {
  service = await startService({ connectionLimits: { connectionsMax: CONNECTIONS } })
  alice = service.alice
})

const AnsweredBy = z.object({ kind: z.string(), index: z.int().nullable(), note: z.string().nullable() })
const Requests = z.looseObject({ items: z.array(z.looseObject({ answeredBy: AnsweredBy.nullable() })) })
const Shown = z.looseObject({ responses: z.array(z.looseObject({ used: z.int().nullable() })) })

async function answeredBy(endpoint: TestEndpoint) {
  const { client } = endpoint
  const { items } = await client.expect(client.get(endpoint.at('/requests?pageSize=100')), Requests)
  return items.map((item) => item.answeredBy)
}

/** Sends captures that wait for their answers, and returns once all of them do. */
async function waitingSenders(endpoint: TestEndpoint, count = OF_WORKSPACE): Promise<SocketSender[]> {
  const before = (await answeredBy(endpoint)).filter((by) => by !== null).length
  const senders = Array.from({ length: count }, () => sendBySocket(`${endpoint.url}?slow=1`))
  await eventually('the waits', async () => {
    const noted = (await answeredBy(endpoint)).filter((by) => by !== null)
    return noted.length === before + count
  })
  return senders
}

const reset = (senders: readonly SocketSender[]) => {
  for (const sender of senders) sender.reset()
}

/** Resets the senders, and returns once all places of the workspace are free. */
async function leave(senders: readonly SocketSender[]): Promise<void> {
  reset(senders)
  const endpoint = await alice.endpoint({ responses: [SHORT] })
  await eventually('free places', async () => {
    const answers = await Promise.all(Array.from({ length: OF_WORKSPACE }, () => endpoint.send()))
    return answers.every(({ status }) => status === SHORT.status)
  })
}

const SLOW = { when: { path: 'query.slow', op: 'eq', value: '1' }, status: 201, delayMs: 30_000 }
const SHORT = { status: 418, delayMs: 10 }

describe('without a place', () => {
  test('the endpoint answers at once, and another workspace still has its places', async () => {
    const endpoint = await alice.endpoint({ responses: [SLOW, SHORT] })
    const senders = await waitingSenders(endpoint)
    expect((await endpoint.send()).status).toBe(200)
    await eventually('the note', async () => (await answeredBy(endpoint))[0] !== null)
    expect((await answeredBy(endpoint))[0]).toEqual({
      kind: 'endpoint',
      index: null,
      note: 'Too many answers waited already.',
    })
    const other = await service.charlie.endpoint({ responses: [SLOW, SHORT] })
    expect((await other.send()).status).toBe(418)
    await leave(senders)
  })

  test('a response that is used up leaves the answer to the next one', async () => {
    const endpoint = await alice.endpoint({ responses: [{ ...SLOW, times: OF_WORKSPACE }, { status: 202 }] })
    const senders = await waitingSenders(endpoint)
    expect((await endpoint.send({ suffix: '?slow=1' })).status).toBe(202)
    await leave(senders)
  })

  test('no use is taken', async () => {
    const endpoint = await alice.endpoint({ responses: [{ ...SLOW, times: OF_WORKSPACE + 1 }] })
    const senders = await waitingSenders(endpoint)
    expect((await endpoint.send({ suffix: '?slow=1' })).status).toBe(200)
    const { responses } = await alice.expect(alice.get(endpoint.at('')), Shown)
    expect(responses[0]?.used).toBe(OF_WORKSPACE)
    await leave(senders)
  })
})

describe('a sender', () => {
  test('that is gone before its wait begins holds no place', async () => {
    const endpoint = await alice.endpoint({ responses: [SLOW, SHORT] })
    await service.db.transaction().execute(async (trx) => {
      await sql`select from endpoint_counters where endpoint_id = ${endpoint.id} for update`.execute(trx)
      // More than there are places: a reset overtakes what a busy service has not read.
      const senders = Array.from({ length: 2 * OF_WORKSPACE }, () => sendBySocket(`${endpoint.url}?slow=1`))
      // The captures wait for the lock, and are read before a call that comes after them is answered.
      await eventually('the captures', () => isWaitingForLock(service.db))
      await Promise.all(senders.map(({ connected }) => connected))
      await answeredBy(endpoint)
      reset(senders)
      await Promise.all(senders.map(({ status }) => status))
    })
    await eventually('the captures', async () => (await answeredBy(endpoint)).length >= OF_WORKSPACE)
    // The slow answers would take 30 s.
    await eventually('a place', async () => (await endpoint.send()).status === 418, { seconds: 15 })
  })

  test('that has half-closed gets its answer', async () => {
    const answering = Promise.withResolvers<void>()
    await using receiver = await startReceiver((_request, response) => {
      void answering.promise.then(() => response.writeHead(202, { 'Content-Type': 'text/plain' }).end('ok'))
    })
    const endpoint = await alice.endpoint()
    const action = await alice.expect(
      alice.post(endpoint.at('/actions'), { kind: 'forward', url: receiver.url }),
      z.looseObject({ id: z.string() }),
    )
    const answerFrom = { actionId: action.id, timeoutMs: 10_000, fallback: { status: 503 } }
    await alice.expect(alice.patch(endpoint.at(''), { answerFrom }), z.looseObject({}))
    const early = sendBySocket(endpoint.url)
    early.end()
    const late = sendBySocket(endpoint.url)
    await receiver.take(2)
    late.end()
    // Its end is read before the call after it.
    await alice.get(endpoint.at(''))
    answering.resolve()
    expect(await Promise.all([early.status, late.status])).toEqual([202, 202])
  })

  test('that has half-closed is answered at once when its workspace needs the place', async () => {
    const endpoint = await alice.endpoint({ responses: [SLOW, SHORT] })
    const senders = await waitingSenders(endpoint)
    const [first] = senders
    first?.end()
    await eventually('a place', async () => (await endpoint.send()).status === 418)
    expect(await first?.status).toBe(201)
    await leave(senders)
  })

  test('sees a reset as one', async () => {
    const endpoint = await alice.endpoint({ responses: [{ close: 'reset' }] })
    const sender = sendBySocket(endpoint.url)
    expect([await sender.status, await sender.failure]).toEqual([null, 'ECONNRESET'])
  })
})
