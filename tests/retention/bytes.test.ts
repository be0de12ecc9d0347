import { describe, expect, test } from 'bun:test'
import { evictedRequests } from '@creel/core/platform/metrics'
import { readStorage, sweepBytes } from '@creel/core/retention'
import { sql } from 'kysely'
import { pino } from 'pino'
import { eventually } from '../support/eventually.ts'
import { servicePerTest, type TestService } from '../support/service.ts'

const start = servicePerTest()

const sweep = (service: TestService) => sweepBytes(service.running.services, new AbortController().signal)

/** What is stored and seen, by the rows; the counters must say the same. */
async function stored({ db }: TestService): Promise<{ ids: number[]; evictedCount: number }> {
  const { rows } = await sql<{ id: number }>`
    select id from requests where deleted_at is null and hidden_at is null order by id`.execute(db)
  const differing = await sql`
    select from endpoint_counters c where (stored_request_count, stored_bytes) <> (
      select count(*), coalesce(sum(octet_length(body)), 0) from requests r
      where r.endpoint_id = c.endpoint_id and r.deleted_at is null and r.hidden_at is null)`.execute(db)
  expect(differing.rows).toHaveLength(0)
  const evicted = await sql<{ count: number }>`
    select sum(evicted_count)::int as count from endpoint_counters`.execute(db)
  return { ids: rows.map(({ id }) => id), evictedCount: evicted.rows[0]?.count ?? 0 }
}

describe('storedBytesMax', () => {
  test('evicts the oldest of the whole workspace, and nothing of others', async () => {
    const service = await start({ parts: ['gateway'], limits: { storedBytesMax: 25_500 } })
    const [first, second] = [await service.alice.endpoint(), await service.alice.endpoint()]
    const foreign = await service.charlie.endpoint()
    await foreign.send({ body: 'x'.repeat(20_000) })
    for (let round = 0; round < 20; round += 1) {
      await first.send({ body: 'x'.repeat(1000) })
      await second.send({ body: 'x'.repeat(1000) })
    }
    const before = await stored(service)
    await sweep(service)
    const after = await stored(service)
    const [foreignId] = before.ids
    expect(after).toEqual({
      ids: [foreignId, ...before.ids.slice(-25)].map(Number),
      evictedCount: 15,
    })
    // What was evicted is not looked for again, and what comes later is kept.
    await sweep(service)
    expect((await stored(service)).ids).toHaveLength(26)
  })

  test('a request whose delivery is due is hidden; beyond a quarter of the bound such deliveries end', async () => {
    const service = await start({ limits: { storedBytesMax: 4000 }, allowDestinations: ['127.0.0.0/8'] })
    const endpoint = await service.alice.endpoint({ forwardUrl: 'http://127.0.0.1:1/' })
    for (let round = 0; round < 6; round += 1) await endpoint.send({ body: 'x'.repeat(1000) })
    await eventually('first attempts', async () => {
      const { rows } = await sql`select from deliveries where attempt_count > 0`.execute(service.db)
      return rows.length === 6
    })
    await sweep(service)
    expect((await stored(service)).ids).toHaveLength(4)
    // Two were hidden, which is more than 1000 bytes: the deliveries of the oldest ended.
    const ended = await service.alice.get(`${endpoint.at('')}/deliveries?state=DeadLetter`)
    expect(ended.body).toMatchObject({ items: [{ error: 'evicted' }, { error: 'evicted' }] })
    const { rows } = await sql`select from requests where hidden_at is not null`.execute(service.db)
    expect(rows).toHaveLength(0)
  })
})

describe('CREEL_STORAGE_MAX', () => {
  const storageMaxBytes = 40 * 2024

  test('evicts the oldest of all, the bin first, and warns long before', async () => {
    const service = await start({ parts: ['gateway'] })
    const endpoints = [await service.alice.endpoint(), await service.charlie.endpoint()]
    const fill = async (count: number) => {
      for (let sent = 0; sent < count; sent += 1) {
        await endpoints[sent % 2]?.send({ body: 'x'.repeat(1000) })
      }
    }
    await fill(34)
    const bounded = await start({
      parts: ['gateway'],
      storageMaxBytes,
      database: service.database,
      clock: service.clock,
      secretKey: service.secretKey,
    })
    const readiness = await fetch(`${bounded.baseUrl}/readyz`)
    expect(readiness.status).toBe(200)
    expect(await readiness.json()).toMatchObject({ storage: 'nearly full: 85 % of CREEL_STORAGE_MAX' })
    const metrics = await (await fetch(`${bounded.baseUrl}/metrics`)).text()
    expect(metrics).toContain(`\ncreel_storage_bytes ${34 * 2024}\n`)
    expect(metrics).toContain(`\ncreel_storage_max_bytes ${storageMaxBytes}\n`)

    await fill(20)
    const [binned] = (await stored(service)).ids.slice(-1)
    await service.charlie.delete(endpoints[1]?.at(`/requests/${binned}`) ?? '')
    const before = await stored(service)
    await sweep(bounded)
    expect((await stored(service)).ids).toEqual(before.ids.slice(-40))
    expect((await readStorage(service.db)).totalBytes).toBe(storageMaxBytes)
    const { rows } = await sql`select from requests where deleted_at is not null`.execute(service.db)
    expect(rows).toHaveLength(0)
  })

  test('is held by the jobs process by itself, oldest first, and the log tells', async () => {
    const service = await start({ parts: ['gateway'] })
    const endpoint = await service.alice.endpoint()
    await endpoint.captureMany(30)
    const before = await stored(service)
    const said: string[] = []
    const log = pino({ level: 'warn' }, { write: (line) => said.push(line) })
    await start({
      parts: ['jobs'],
      storageMaxBytes: 10 * 1100,
      database: service.database,
      clock: service.clock,
      secretKey: service.secretKey,
      log,
    })
    await eventually('eviction', async () => (await stored(service)).ids.length <= 10)
    const { ids } = await stored(service)
    expect(ids).toEqual(before.ids.slice(-ids.length))
    await eventually('a line about the bound', () => said.some((line) => line.includes('"storage.full"')))
    await eventually('the warning', () => said.some((line) => line.includes('"storage.nearly_full"')))
    const { values } = await evictedRequests.get()
    expect(values.find(({ labels }) => labels.limit === 'storage')?.value).toBeGreaterThanOrEqual(20)
  })
})
