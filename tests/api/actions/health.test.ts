import { beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { z } from 'zod'
import { eventually } from '../../support/eventually.ts'
import { startReceiver } from '../../support/receiver.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService({ retryDelaysSeconds: [3600] })
})

const Health = z.object({
  since: z.iso.datetime(),
  items: z.array(
    z.object({
      actionId: z.string(),
      attempts: z.int(),
      succeeded: z.int(),
      p95Ms: z.int().nullable(),
      unfinished: z.int(),
    }),
  ),
})

test('the figures of each action are those of its attempts in the last hour', async () => {
  await using good = await startReceiver()
  await using bad = await startReceiver({ status: 500 })
  const { alice } = service
  const endpoint = await alice.endpoint()
  const health = () => alice.expect(alice.get(endpoint.at('/actions/health')), Health)
  expect(await health()).toMatchObject({ items: [] })
  for (const [name, { url }] of Object.entries({ good, bad })) {
    await alice.post(endpoint.at('/actions'), { kind: 'forward', name, url })
  }
  const idle = { attempts: 0, succeeded: 0, p95Ms: null, unfinished: 0 }
  expect((await health()).items).toMatchObject([idle, idle])

  await endpoint.captureMany(3)
  const { since, items } = await eventually('the results of all attempts', async () => {
    const seen = await health()
    return seen.items.every(({ attempts }) => attempts === 3) && seen
  })
  expect(items).toMatchObject([
    { attempts: 3, succeeded: 3, p95Ms: expect.any(Number), unfinished: 0 },
    { attempts: 3, succeeded: 0, p95Ms: expect.any(Number), unfinished: 3 },
  ])
  expect(Date.now() - Date.parse(since)).toBeGreaterThan(3_590_000)
})

test('attempts of another endpoint, and older ones, do not count', async () => {
  await using receiver = await startReceiver()
  const endpoint = await service.alice.endpoint({ forwardUrl: receiver.url })
  const other = await service.alice.endpoint({ forwardUrl: receiver.url })
  await other.captureMany(2)
  await endpoint.capture()
  const health = async () =>
    (await service.alice.expect(service.alice.get(endpoint.at('/actions/health')), Health)).items[0]
  await eventually('its own attempt', async () => (await health())?.attempts === 1)
  await sql`update delivery_attempts set at = now() - interval '61 minutes' where endpoint_id = ${endpoint.id}`.execute(
    service.db,
  )
  expect(await health()).toMatchObject({ attempts: 0, succeeded: 0, p95Ms: null })
})
