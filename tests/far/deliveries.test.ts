import { expect, test } from 'bun:test'
import { openDatabase } from '@creel/core'
import { sql } from 'kysely'
import { z } from 'zod'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startFar } from '../support/far.ts'
import { neverAnswers } from '../support/hangingReceivers.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'

/** Deliveries and replays from a database that is far away, beside a receiver that hangs. */

const Made = z.looseObject({ id: z.string() })
const Numbered = z.object({ number: z.int() })
const numbersAt = ({ received }: Receiver) =>
  received.map(({ body }) => Numbered.parse(JSON.parse(body.toString())).number)

const far = await startFar(await createTestDatabase())
const { alice, clock } = await startService({ database: far })

async function farEndpoint() {
  const endpoint = await alice.endpoint({ name: 'far' })
  const actionTo = async ({ url }: Receiver, delivery: object = {}) =>
    (
      await alice.expect(
        alice.post(endpoint.at('/actions'), { kind: 'forward', name: url, url, delivery }),
        Made,
      )
    ).id
  const captureNumbers = async (count: number) => {
    for (let number = 0; number < count; number += 1)
      expect((await endpoint.send({ body: JSON.stringify({ number }) })).status).toBe(200)
  }
  return { endpoint, actionTo, captureNumbers }
}

test('each capture is delivered once, in order where an action asks for it, while another receiver hangs', async () => {
  await using plain = await startReceiver()
  await using ordered = await startReceiver()
  await using hanging = await startReceiver(neverAnswers)
  const { actionTo, captureNumbers } = await farEndpoint()
  await actionTo(hanging)
  await actionTo(plain)
  await actionTo(ordered, { order: { by: 'endpoint' } })
  await captureNumbers(12)
  await Promise.all([plain.take(12), ordered.take(12), hanging.take(12)])
  const all = Array.from({ length: 12 }, (_, at) => at)
  expect(numbersAt(ordered)).toEqual(all)
  expect(numbersAt(plain).toSorted((a, b) => a - b)).toEqual(all)
})

test('a failed attempt is retried, and a replay and a rehearsal arrive', async () => {
  await using receiver = await startReceiver({ status: 500 })
  const { endpoint, actionTo, captureNumbers } = await farEndpoint()
  const actionId = await actionTo(receiver, { retry: { delays: ['1s'] } })
  await captureNumbers(1)
  await receiver.take(1)
  receiver.answer = { status: 200 }
  await receiver.take(2)
  const [captured] = await endpoint.requests()
  const state = async () => (await endpoint.requests())[0]?.state
  await eventually('the success', async () => (await state()) === 'Succeeded')
  expect((await alice.post(endpoint.at(`/requests/${captured?.id}/replay`), { actionId })).status).toBe(200)
  await receiver.take(3)
  const rehearsal = { select: { requestIds: [captured?.id] }, to: { url: receiver.url } }
  expect((await alice.post(endpoint.at('/replays'), rehearsal)).status).toBe(202)
  await receiver.take(4)
  expect(numbersAt(receiver)).toEqual([0, 0, 0, 0])
})

test('what was acknowledged is delivered though the connections to the database are cut', async () => {
  await using plain = await startReceiver()
  await using ordered = await startReceiver()
  const { endpoint, actionTo } = await farEndpoint()
  await actionTo(plain)
  await actionTo(ordered, { order: { by: 'endpoint' } })
  const acknowledged: number[] = []
  const sent = Array.from({ length: 30 }, async (_, number) => {
    const { status } = await endpoint.send({ body: JSON.stringify({ number }) })
    if (status === 200) acknowledged.push(number)
  })
  await plain.take(1)
  far.path.cut()
  await Promise.all(sent)
  const has = (receiver: Receiver) => acknowledged.every((number) => numbersAt(receiver).includes(number))
  await eventually('every delivery', () => has(plain) && has(ordered))
  expect(acknowledged.length).toBeGreaterThan(0)
})

test('a lane without work has no job in the end, although a look at it takes longer than its job waits', async () => {
  await using receiver = await startReceiver()
  const { actionTo, captureNumbers } = await farEndpoint()
  const id = await actionTo(receiver, { concurrency: 1 })
  await captureNumbers(1)
  await receiver.take(1)
  far.path.delayMs = 60
  const near = openDatabase(far.near.url, 1)
  await eventually(
    'the last job',
    async () => {
      await clock.advance(2_000)
      const { rows } = await sql`select from pgboss.job
        where name = 'deliveries.lanes' and state <= 'active' and data ->> 'laneId' = ${id}`.execute(near.db)
      return rows.length === 0
    },
    { every: 1_000 },
  )
  await near.close()
})
