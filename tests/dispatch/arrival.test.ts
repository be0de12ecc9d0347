import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { queueWorkOf } from '@creel/core'
import { sql } from 'kysely'
import { z } from 'zod'
import { startEcho } from '../support/echo.ts'
import { eventually } from '../support/eventually.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'

const Made = z.looseObject({ id: z.string() })

test('all work of a workspace that arrives from another cell has jobs that are due at once', async () => {
  await using callback = await startEcho(() => 500)
  await using failing = await startReceiver({ status: 500 })
  const { alice, db, clock, running } = await startService()
  const endpoint = await alice.endpoint({ name: 'arrived' })
  await alice.expect(alice.get('/api/v1/events/types'), z.looseObject({}))
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const subscription = { name: 'arrived.any', delivery: { mode: 'webhook', url: callback.url, secret } }
  const lanes = [await alice.expect(alice.post('/api/v1/subscriptions', subscription), Made)]
  const channel = { kind: 'webhook', name: 'Hook', settings: { url: failing.url } }
  lanes.push(await alice.expect(alice.post('/api/v1/alert-channels', channel), Made))
  const tell = { kind: 'notify', name: 'Tell', alertChannelId: lanes[1]?.id }
  await alice.expect(alice.post(endpoint.at('/actions'), tell), Made)
  for (const delivery of [{ concurrency: 1 }, undefined])
    lanes.push(
      await alice.expect(
        alice.post(endpoint.at('/actions'), { kind: 'forward', url: failing.url, delivery }),
        Made,
      ),
    )
  await clock.advance(10_000)
  await endpoint.capture()
  await eventually('an attempt of each', async () => {
    const { rows } = await sql<{ made: number }>`select
      (select count(*) from alert_deliveries where outcome is not null and leased_until is null)::int +
      (select count(*) from event_deliveries where attempts <> '[]' and leased_until is null)::int +
      (select count(*) from delivery_attempts where state = 'Failed' and kind = 'forward')::int as made`.execute(
      db,
    )
    return rows[0]?.made === 4
  })
  await running.stop()
  await sql`delete from pgboss.job where name like '%.lanes'`.execute(db)
  await db.transaction().execute((trx) => queueWorkOf(running.services, trx, alice.workspaceId, db))
  const { rows } = await sql<{ lane: string }>`
    select data ->> 'laneId' as lane from pgboss.job
    where name like '%.lanes' and start_after <= ${clock.now()}`.execute(db)
  expect(rows.map(({ lane }) => lane).sort()).toEqual(lanes.map(({ id }) => id).sort())
})
