import { beforeAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { z } from 'zod'
import { eventually } from '../support/eventually.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'

/** A receiver of any kind of send that asks for time gets it. */

const Made = z.looseObject({ id: z.string() })
const Body = z.looseObject({ challenge: z.string().optional() })
const RETRY_AFTER = 400

let service: TestService

beforeAll(async () => {
  service = await startService()
})

/** A receiver that repeats challenges, and is too busy for everything else. */
const startBusy = (): Promise<Receiver> =>
  startReceiver(({ body }, response) => {
    const { challenge } = Body.parse(JSON.parse(body.toString()))
    const headers = { 'Retry-After': String(RETRY_AFTER) }
    response.writeHead(challenge === undefined ? 429 : 200, headers).end(JSON.stringify({ challenge }))
  })

/** Seconds from a moment before the only send of a table to the next one. */
const waited = (
  table: 'event_deliveries' | 'alert_deliveries',
  column: 'next_at' | 'next_attempt_at',
  since: Date,
) =>
  eventually('a failed attempt', async () => {
    const { rows } = await sql<{ at: Date }>`select ${sql.ref(column)} as at from ${sql.table(table)}
      where leased_until is null and ${sql.ref(column)} > ${service.clock.now()}`.execute(service.db)
    const [row] = rows
    return row !== undefined && (row.at.getTime() - since.getTime()) / 1000
  })

test('the callback of a subscription', async () => {
  const { alice } = service
  await using busy = await startBusy()
  const endpoint = await alice.endpoint({ name: 'busy' })
  await alice.expect(alice.get('/api/v1/events/types'), z.looseObject({}))
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const delivery = { mode: 'webhook', url: busy.url, secret }
  await alice.expect(alice.post('/api/v1/subscriptions', { name: 'busy.any', delivery }), Made)
  await service.clock.advance(10_000)
  const since = service.clock.now()
  await endpoint.capture()
  await busy.take(2)
  expect(await waited('event_deliveries', 'next_at', since)).toBeGreaterThanOrEqual(RETRY_AFTER)
})

test('the channel of an alert', async () => {
  const { alice } = service
  await using busy = await startBusy()
  const channel = { kind: 'webhook', name: 'Hook', settings: { url: busy.url } }
  const { id: alertChannelId } = await alice.expect(alice.post('/api/v1/alert-channels', channel), Made)
  const endpoint = await alice.endpoint()
  const action = { kind: 'notify', name: 'Tell', alertChannelId }
  await alice.expect(alice.post(endpoint.at('/actions'), action), Made)
  const since = service.clock.now()
  await endpoint.capture()
  await busy.take(1)
  expect(await waited('alert_deliveries', 'next_attempt_at', since)).toBeGreaterThanOrEqual(RETRY_AFTER)
})
