import { expect, test } from 'bun:test'
import { openDatabase } from '@creel/core'
import { sql } from 'kysely'
import { z } from 'zod'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startFar } from '../support/far.ts'
import { neverAnswers } from '../support/hangingReceivers.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'

const CHANNELS = 20
/** Messages of notify actions that one channel gets at once. */
const AT_ONCE = 6
/** Delay to the database, in milliseconds each way. */
const DELAY_MS = 20

const WATCHDOGS = 100

const Made = z.looseObject({ id: z.string() })
const Message = z.looseObject({ request_id: z.int() })

test('a flood of messages that end together is recorded before a lease ends, so that none is sent again once it is answered', async () => {
  const far = await startFar(await createTestDatabase(), 0)
  const gateway = await startService({
    database: far,
    parts: ['gateway'],
    limits: { alertChannelsMax: CHANNELS, actionsMax: CHANNELS, apiRatePerMinute: 10_000 },
  })
  const { alice, db, clock, secretKey } = gateway
  const answering = Promise.withResolvers<void>()
  const answered = new Set<string>()
  const again: string[] = []
  await using receiver = await startReceiver(async ({ url, body }, response) => {
    const message = `${url} ${Message.parse(JSON.parse(body.toString())).request_id}`
    if (answered.has(message)) again.push(message)
    await answering.promise
    // A send that a slow machine has left without an answer for ten seconds is made again.
    if (!response.destroyed) answered.add(message)
    response.end()
  })
  const endpoint = await alice.endpoint()
  for (let at = 0; at < CHANNELS; at += 1) {
    const settings = { url: `${receiver.url}/${at}` }
    const channel = alice.post('/api/v1/alert-channels', { kind: 'webhook', name: `hook ${at}`, settings })
    const { id: alertChannelId } = await alice.expect(channel, Made)
    const action = { kind: 'notify', name: `tell ${at}`, alertChannelId }
    await alice.expect(alice.post(endpoint.at('/actions'), action), Made)
  }
  // All are due before the first is sent.
  await endpoint.captureMany(AT_ONCE)
  await clock.advance(20_000)
  await startService({ database: far, clock, secretKey, parts: ['jobs'] })
  const all = AT_ONCE * CHANNELS
  await receiver.take(all)
  far.path.delayMs = DELAY_MS
  answering.resolve()
  await eventually('the results of all messages', async () => {
    const { rows } = await sql`select from delivery_attempts where state = 'Succeeded'`.execute(db)
    return rows.length === all
  })
  expect(answered.size).toBe(all)
  expect(again).toEqual([])
})

test('many messages of a notify action are handed to the outbox in a few round trips, for which others wait', async () => {
  const count = 192
  const far = await startFar(await createTestDatabase(), 0)
  const { alice, db } = await startService({ database: far, limits: { captureRatePerMinute: 10_000 } })
  // Six messages are under way, and none ends.
  await using receiver = await startReceiver(neverAnswers)
  const channel = { kind: 'webhook', name: 'hook', settings: { url: receiver.url } }
  const { id: alertChannelId } = await alice.expect(alice.post('/api/v1/alert-channels', channel), Made)
  const endpoint = await alice.endpoint()
  const action = { kind: 'notify', name: 'tell', alertChannelId }
  const { id } = await alice.expect(alice.post(endpoint.at('/actions'), action), Made)
  let sentBefore = 0
  await db.transaction().execute(async (trx) => {
    // No look gets the lane before all of its work is there.
    await sql`select from action_flows where action_id = ${id} for update`.execute(trx)
    await endpoint.captureMany(count)
    far.path.delayMs = DELAY_MS
    sentBefore = far.path.sent
  })
  const near = openDatabase(far.near.url, 1)
  await eventually('all messages in the outbox', async () => {
    const { rows } = await sql`select from alert_deliveries`.execute(near.db)
    return rows.length === count
  })
  await near.close()
  // Each message that is handed over alone takes four. Looks and other jobs of the service add theirs.
  expect(far.path.sent - sentBefore).toBeLessThan(4 * count)
})

test('of a hundred watchdogs that alarm at once none waits for all others', async () => {
  const far = await startFar(await createTestDatabase(), 0)
  const service = await startService({ database: far, limits: { watchdogsMax: WATCHDOGS } })
  const { alice, charlie, clock } = service
  const near = openDatabase(far.near.url, 2)
  const watchdog = async (client: typeof alice, endpointId: string) =>
    await client.expect(
      client.post('/api/v1/watchdogs', { endpointId, expectedIntervalSeconds: 600, graceSeconds: 0 }),
      Made,
    )
  const [crowded, other] = [await alice.endpoint(), await charlie.endpoint()]
  for (let made = 0; made < WATCHDOGS; made += 1) await watchdog(alice, crowded.id)
  await watchdog(charlie, other.id)
  far.path.delayMs = DELAY_MS
  await clock.advance(700_000)
  const parts = new Set<number>()
  const hasAll = async () => {
    const { rows } = await sql`select from watchdogs where phase = 'alarmed'`.execute(near.db)
    if (rows.length > 0 && rows.length < WATCHDOGS) parts.add(rows.length)
    return rows.length === WATCHDOGS + 1
  }
  // The statements of all of them, one after the other, take over 16 s. They are raised a few at a time.
  await eventually('all alarms', hasAll, { every: 10 })
  expect(parts.size).toBeGreaterThan(1)
  await near.close()
  await service.stop()
})
