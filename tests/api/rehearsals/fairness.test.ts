import { beforeAll, expect, test } from 'bun:test'
import { z } from 'zod'
import type { Client } from '../../support/client.ts'
import { eventually } from '../../support/eventually.ts'
import { neverAnswers } from '../../support/hangingReceivers.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { startService, type TestService } from '../../support/service.ts'

/** Replays of many requests beside those of others, and beside receivers that do not answer. */

const ATTACKERS = 6
/** Replays of a workspace that the service sends at once. */
const RUNNING = 2
/** Ended replays that are kept for each workspace. */
const KEPT = 20

const Run = z.looseObject({ id: z.string(), state: z.string(), counts: z.looseObject({ done: z.int() }) })
const Started = z.looseObject({ replay: Run })

let service: TestService

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 100_000 } })
})

async function replaying(client: Client, count: number) {
  const endpoint = await client.endpoint()
  const captured = await endpoint.captureMany(count)
  const requestIds = captured.map(({ id }) => id)
  const begin = async ({ url }: Receiver, members: object = {}) => {
    const started = { select: { requestIds }, to: { url }, pace: { perSecond: 1000 }, ...members }
    return (await client.expect(client.post(endpoint.at('/replays'), started), Started)).replay.id
  }
  const read = (id: string) => client.expect(client.get(endpoint.at(`/replays/${id}`)), Run)
  const ended = (id: string) =>
    eventually('the end of the replay', async () => {
      const run = await read(id)
      return ['done', 'failed', 'cancelled'].includes(run.state) && run
    })
  return { endpoint, requestIds, begin, read, ended }
}

/** Lets a workspace have as many sends under way as it can, at a receiver that never answers. */
async function hang(client: Client, receiver: Receiver): Promise<void> {
  const { begin } = await replaying(client, 20)
  for (let at = 0; at < RUNNING; at += 1) await begin(receiver, { concurrency: 64, timeoutSeconds: 300 })
}

test('replays whose receivers do not answer hold up no replay of another workspace', async () => {
  await using hanging = await startReceiver(neverAnswers)
  await using live = await startReceiver()
  const attackers = await Promise.all(Array.from({ length: ATTACKERS }, () => service.newClient()))
  await Promise.all(attackers.map((client) => hang(client, hanging)))
  await eventually('a send of each attack', () => hanging.received.length >= ATTACKERS * RUNNING)
  const { begin, ended } = await replaying(await service.newClient(), 10)
  expect(await ended(await begin(live, { concurrency: 4 }))).toMatchObject({
    state: 'done',
    counts: { done: 10 },
  })
})

test('a replay of one request waits for no other, and takes the place of none', async () => {
  await using hanging = await startReceiver(neverAnswers)
  await using live = await startReceiver()
  const client = await service.newClient()
  const many = await replaying(client, 2)
  const kept = await many.begin(live)
  await many.ended(kept)
  await hang(client, hanging)
  const waiting = await many.begin(live)
  const one = await replaying(client, 1)
  for (let at = 0; at <= KEPT; at += 1) await one.ended(await one.begin(live))
  expect((await many.read(waiting)).state).toBe('queued')
  expect(await many.read(kept)).toMatchObject({ state: 'done', counts: { done: 2 } })
})
