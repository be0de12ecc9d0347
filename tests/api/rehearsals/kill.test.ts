import { expect, test } from 'bun:test'
import { openDatabase } from '@creel/core'
import { z } from 'zod'
import { createTestDatabase } from '../../support/database.ts'
import { eventually } from '../../support/eventually.ts'
import { type ProcessOptions, startProcess, TEST_SECRET_KEY, temporaryFolder } from '../../support/process.ts'
import { clientOf } from '../../support/processClient.ts'
import { startReceiver } from '../../support/receiver.ts'

/** `CREEL_REPLAY_EVENTS` makes a larger run. */
const EVENTS = Number(process.env.CREEL_REPLAY_EVENTS ?? 24)

const Started = z.looseObject({ replay: z.looseObject({ id: z.string() }) })
const Run = z.looseObject({ state: z.string(), counts: z.looseObject({ done: z.int(), waiting: z.int() }) })

test('a replay whose process is killed goes on, and sends again only what was under way', async () => {
  const killing = Promise.withResolvers<void>()
  let sent = 0
  await using receiver = await startReceiver((_request, response) => {
    sent += 1
    if (sent <= EVENTS / 3) response.end()
    // From here on one is under way until the process is gone.
    else void killing.promise.then(() => response.end())
  })
  const database = await createTestDatabase()
  const options: ProcessOptions = {
    database,
    cwd: await temporaryFolder(),
    env: { CREEL_SECRET_KEY: TEST_SECRET_KEY, CREEL_ALLOW_DESTINATIONS: '127.0.0.1' },
  }
  const gateway = await startProcess(options, ['--only', 'gateway'])
  const client = await clientOf(gateway, options)
  const endpoint = await client.endpoint()
  for (let n = 0; n < EVENTS; n += 1) await endpoint.capture({ body: JSON.stringify({ n }) })
  const killed = await startProcess(options, ['--only', 'jobs'])
  const { replay } = await client.expect(
    client.post(endpoint.at('/replays'), {
      select: { filter: {} },
      to: { url: receiver.url },
      pace: { perSecond: 20 },
    }),
    Started,
  )
  await receiver.take(EVENTS / 3 + 1)
  killed.signal('SIGKILL')
  await killed.exited
  killing.resolve()
  const before = receiver.received.length
  expect(before).toBeLessThan(EVENTS)
  // As if the leases of its sends had ended.
  const { db, close } = openDatabase(database.url, 1)
  await db
    .updateTable('replayItems')
    .set({ leaseEndsAt: new Date(0) })
    .execute()
  await close()
  await startProcess(options, ['--only', 'jobs'])
  const run = await eventually('the end of the replay', async () => {
    const read = await client.expect(client.get(endpoint.at(`/replays/${replay.id}`)), Run)
    return read.state === 'done' && read
  })
  expect(run.counts).toMatchObject({ done: EVENTS, waiting: 0 })
  const numbers = receiver.received.map(({ body }): number => JSON.parse(body.toString()).n)
  expect([...new Set(numbers)]).toEqual(Array.from({ length: EVENTS }, (_, n) => n))
  // At most the one under way comes again.
  expect(numbers.length - EVENTS).toBeLessThanOrEqual(1)
  if (numbers.length > EVENTS) expect(numbers[before]).toBe(numbers[before - 1] ?? -1)
})
