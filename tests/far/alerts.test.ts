import { expect, test } from 'bun:test'
import { sql } from 'kysely'
import { z } from 'zod'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startFar } from '../support/far.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'

const CHANNELS = 20
/** Messages of notify actions that one channel gets at once. */
const AT_ONCE = 6
/** Delay to the database, in milliseconds each way. */
const DELAY_MS = 20

const Made = z.looseObject({ id: z.string() })

test('a flood of messages that end together is recorded before a lease ends, so that each is sent once', async () => {
  const far = await startFar(await createTestDatabase(), 0)
  const { alice, db } = await startService({
    database: far,
    limits: { alertChannelsMax: CHANNELS, actionsMax: CHANNELS, apiRatePerMinute: 10_000 },
  })
  const answered = Promise.withResolvers<void>()
  await using receiver = await startReceiver(async (_, response) => {
    await answered.promise
    response.end()
  })
  const endpoint = await alice.endpoint()
  const settings = { url: receiver.url }
  for (let at = 0; at < CHANNELS; at += 1) {
    const channel = alice.post('/api/v1/alert-channels', { kind: 'webhook', name: `hook ${at}`, settings })
    const { id: alertChannelId } = await alice.expect(channel, Made)
    const action = { kind: 'notify', name: `tell ${at}`, alertChannelId }
    await alice.expect(alice.post(endpoint.at('/actions'), action), Made)
  }
  await endpoint.captureMany(AT_ONCE)
  const all = AT_ONCE * CHANNELS
  await receiver.take(all)
  far.path.delayMs = DELAY_MS
  answered.resolve()
  await eventually(
    'the results of all messages',
    async () => {
      const { rows } = await sql`select from delivery_attempts where state = 'Succeeded'`.execute(db)
      return rows.length === all
    },
    { seconds: 90 },
  )
  expect(receiver.received.length).toBe(all)
}, 120_000)
