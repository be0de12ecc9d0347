import { describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { evictedRequests } from '@creel/core/requests'
import { readStorage, readStorageOf, sweepBytes } from '@creel/core/retention'
import { sql } from 'kysely'
import { pino } from 'pino'
import { attemptsEnded } from '../support/attempts.ts'
import { eventually } from '../support/eventually.ts'
import { sendRaw } from '../support/rawSender.ts'
import { startReceiver } from '../support/receiver.ts'
import { servicePerTest, type TestService } from '../support/service.ts'
import { expectAllCountersEqualRows, rowsOf, whileBroken } from './support.ts'

const start = servicePerTest()

const sweep = (service: TestService) => sweepBytes(service.running.services, new AbortController().signal)

/** Ids of stored, visible requests, by the rows; the counters must agree. */
async function stored(service: TestService): Promise<{ ids: number[]; evictedCount: number }> {
  const { db } = service
  const { rows } = await sql<{ id: number }>`
    select id from requests where deleted_at is null and hidden_at is null order by id`.execute(db)
  await expectAllCountersEqualRows(service)
  const evicted = await sql<{ count: number }>`
    select sum(evicted_count)::int as count from endpoint_counters`.execute(db)
  return { ids: rows.map(({ id }) => id), evictedCount: evicted.rows[0]?.count ?? 0 }
}

describe('storedBytesMax', () => {
  test('evicts the oldest of the whole workspace, and nothing of others', async () => {
    const service = await start({ parts: ['gateway'], limits: { storedBytesMax: 25 * 2024 + 500 } })
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
    // Evicted requests are not evicted again, and later ones are kept.
    await sweep(service)
    expect((await stored(service)).ids).toHaveLength(26)
  })

  test('a workspace that stays over it keeps no others over theirs', async () => {
    const service = await start({ parts: ['gateway'], limits: { storedBytesMax: 5_000 } })
    const clients = [service.alice, service.charlie]
    const endpoints = [await service.alice.endpoint(), await service.charlie.endpoint()]
    for (const endpoint of endpoints)
      for (let n = 0; n < 5; n += 1) await endpoint.send({ body: 'x'.repeat(1000) })
    const overBound = async () => {
      const bytes = await Promise.all(
        clients.map(({ workspaceId }) => readStorageOf(service.db, workspaceId)),
      )
      return bytes.filter((one) => one > 5_000).length
    }
    expect(await overBound()).toBe(2)
    // The first workspace that is looked at keeps its requests, as one does that gets them as fast as they are evicted.
    const { workspaces } = await readStorage(service.db)
    const endless = workspaces[0]?.workspaceId === service.alice.workspaceId ? endpoints[0] : endpoints[1]
    await whileBroken(service, [endless?.id ?? ''], 'return null', () => sweep(service))
    expect(await overBound()).toBe(1)
  })

  test.each([{ storedBytesMax: 10 * 2024 }, { storageMaxBytes: 10 * 2024 }])(
    'an endpoint of which nothing can be evicted keeps no others: %o',
    async ({ storedBytesMax, storageMaxBytes }) => {
      const service = await start({
        parts: ['gateway'],
        ...(storedBytesMax === undefined ? { storageMaxBytes } : { limits: { storedBytesMax } }),
      })
      const [broken, whole] = [await service.alice.endpoint(), await service.alice.endpoint()]
      const send = { body: 'x'.repeat(1000) }
      for (let n = 0; n < 8; n += 1) await broken.send(send)
      for (let n = 0; n < 8; n += 1) await whole.send(send)
      const counts = async () => [
        (await rowsOf(service, broken.id)).requests,
        (await rowsOf(service, whole.id)).requests,
      ]
      await whileBroken(service, [broken.id], `raise 'missing chunk'`, async () => {
        expect(await sweep(service).catch(String)).toContain('missing chunk')
        expect(await counts()).toEqual([8, 2])
      })
      await whole.send(send)
      await sweep(service)
      expect(await counts()).toEqual([7, 3])
    },
  )

  test('a request whose delivery is due is hidden; beyond a quarter of the bound such deliveries end', async () => {
    // Each request counts 2024 bytes, its first attempt 512, and the record of the attempt 512.
    const service = await start({ limits: { storedBytesMax: 15_000 }, allowDestinations: ['127.0.0.0/8'] })
    const endpoint = await service.alice.endpoint({ forwardUrl: 'http://127.0.0.1:1/' })
    for (let round = 0; round < 6; round += 1) await endpoint.send({ body: 'x'.repeat(1000) })
    await eventually('first attempts', async () => {
      const { rows } = await sql`select from deliveries where attempt_count > 0`.execute(service.db)
      return rows.length === 6
    })
    await sweep(service)
    expect((await stored(service)).ids).toHaveLength(4)
    // Two were hidden, which is more than 3750 bytes: the deliveries of the oldest ended.
    const ended = await service.alice.get(`${endpoint.at('')}/deliveries?state=DeadLetter`)
    expect(ended.body).toMatchObject({ items: [{ error: 'evicted' }, { error: 'evicted' }] })
    const { rows } = await sql`select from requests where hidden_at is not null`.execute(service.db)
    expect(rows).toHaveLength(0)
  })
})

describe('every stored byte counts', () => {
  const storageOf = (service: TestService) => readStorageOf(service.db, service.alice.workspaceId)

  test('heads, trailers and queries, beyond the 1 KiB that each request counts beside its body', async () => {
    const service = await start({ parts: ['gateway'] })
    const endpoint = await service.alice.endpoint()
    const added = async (send: () => Promise<unknown>) => {
      const before = await storageOf(service)
      await send()
      await expectAllCountersEqualRows(service)
      return (await storageOf(service)) - before
    }
    expect(await added(() => endpoint.send({ body: 'x'.repeat(100) }))).toBe(1124)
    expect(await added(() => endpoint.send({ headers: { 'X-Long': 'x'.repeat(10_000) } }))).toBeGreaterThan(
      10_000,
    )
    expect(await added(() => endpoint.send({ suffix: `?q=${'x'.repeat(5000)}` }))).toBeGreaterThan(5000)
    const trailers = `0\r\nX-End: ${'y'.repeat(20_000)}\r\n\r\n`
    const head = `POST ${new URL(endpoint.url).pathname} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n`
    expect(await added(() => sendRaw(endpoint.url, `${head}1\r\nx\r\n${trailers}`))).toBeGreaterThan(20_000)
    // Characters of several bytes, and bytes that are not text, count by their stored length.
    const octets = `POST ${new URL(endpoint.url).pathname}/\xff?\xc3\xa9 HTTP/1.1\r\nHost: h\r\nConnection: close\r\nX-A: ${'\xe9'.repeat(3000)}\r\nContent-Length: 1000\r\n\r\n`
    expect(await added(() => sendRaw(endpoint.url, `${octets}${'\xc3\xa9'.repeat(500)}`))).toBeGreaterThan(
      4000,
    )
    const usage = await service.alice.get('/api/v1/usage')
    expect(usage.body).toMatchObject({ storage: { bytes: await storageOf(service) } })
  })

  test('the names of what rules take out count, too', async () => {
    const service = await start({ parts: ['gateway'] })
    const names = Array.from({ length: 50 }, (_, n) => `${'m'.repeat(100)}${n}`)
    const endpoint = await service.alice.endpoint({
      storeRules: [{ steps: [{ op: 'remove', paths: names.map((name) => `body.${name}`) }] }],
    })
    await endpoint.capture({ body: JSON.stringify(Object.fromEntries(names.map((name) => [name, 1]))) })
    expect(await readStorageOf(service.db, service.alice.workspaceId)).toBeGreaterThan(50 * 100)
    await expectAllCountersEqualRows(service)
  })

  test('what is sent and answered in attempts: the oldest requests go, with the records of their attempts', async () => {
    await using receiver = await startReceiver({ status: 200, body: randomBytes(200_000) })
    const service = await start({ limits: { storedBytesMax: 1_500_000 }, allowDestinations: ['127.0.0.0/8'] })
    const endpoint = await service.alice.endpoint({ forwardUrl: receiver.url })
    const sent = randomBytes(5_000).toString('hex')
    for (let round = 0; round < 12; round += 1) await endpoint.send({ headers: { 'X-Long': sent } })
    await attemptsEnded(service, endpoint, 12)
    const { ids } = await stored(service)
    expect(await storageOf(service)).toBeGreaterThan(12 * 220_000)
    await sweep(service)
    expect(await storageOf(service)).toBeLessThanOrEqual(1_500_000)
    expect((await stored(service)).ids).toEqual(ids.slice(-6))
    const { rows } = await sql<{ bytes: number }>`
      select sum(pg_column_size(sent_headers) + pg_column_size(received_body))::int as bytes
      from attempt_details`.execute(service.db)
    expect(rows[0]?.bytes).toBeLessThan(1_500_000)
    // Attempts stay in the list.
    const deliveries = await service.alice.get(endpoint.at('/deliveries'))
    expect(deliveries.body).toMatchObject({ totalCount: 12 })
  })

  test('attempts of requests that are gone: they go before any request', async () => {
    await using receiver = await startReceiver({ status: 200, body: randomBytes(100_000) })
    const limits = { storedBytesMax: 400_000, storedRequestsMax: 2 }
    const service = await start({ limits, allowDestinations: ['127.0.0.0/8'] })
    const endpoint = await service.alice.endpoint({ forwardUrl: receiver.url })
    for (let round = 1; round <= 10; round += 1) {
      await endpoint.send()
      await attemptsEnded(service, endpoint, round)
    }
    expect(await storageOf(service)).toBeGreaterThan(1_000_000)
    const { ids } = await stored(service)
    expect(ids).toHaveLength(2)
    await sweep(service)
    expect((await stored(service)).ids).toEqual(ids)
    expect(await storageOf(service)).toBeLessThanOrEqual(400_000)
    const deliveries = await service.alice.get(endpoint.at('/deliveries'))
    expect(deliveries.body).toMatchObject({ totalCount: 3 })
  })

  test('attempts of deleted requests: these leave the bin before any younger request is evicted', async () => {
    await using receiver = await startReceiver({ status: 200, body: randomBytes(50_000) })
    const service = await start({ limits: { storedBytesMax: 400_000 }, allowDestinations: ['127.0.0.0/8'] })
    const endpoint = await service.alice.endpoint({ forwardUrl: receiver.url })
    for (let round = 0; round < 6; round += 1) await endpoint.send()
    await attemptsEnded(service, endpoint, 6)
    expect((await service.alice.delete(endpoint.at('/requests'))).status).toBeLessThan(300)
    for (let round = 0; round < 6; round += 1) await endpoint.send()
    await attemptsEnded(service, endpoint, 12)
    const { ids } = await stored(service)
    expect(ids).toHaveLength(6)
    await sweep(service)
    expect((await stored(service)).ids).toEqual(ids)
    expect(await storageOf(service)).toBeLessThanOrEqual(400_000)
    expect((await service.alice.get('/api/v1/recycle-bin')).body).toMatchObject({
      totalCount: 1,
      evicted: { count: 5, lastAt: expect.any(String) },
    })
    // A deleted request that is younger than a stored one stays as long as that one.
    await service.alice.delete(endpoint.at(`/requests/${ids.at(-1)}`))
    await endpoint.send()
    await endpoint.send()
    await attemptsEnded(service, endpoint, 9)
    await sweep(service)
    expect((await stored(service)).ids).toHaveLength(6)
    expect((await service.alice.get('/api/v1/recycle-bin')).body).toMatchObject({ totalCount: 1 })
  })

  test('originals of which less is stored: they go with their requests, and those in the bin count in all', async () => {
    await using receiver = await startReceiver({ status: 503 })
    const service = await start({
      limits: { storedBytesMax: 400_000 },
      retryDelaysSeconds: [],
      allowDestinations: ['127.0.0.0/8'],
    })
    const endpoint = await service.alice.endpoint({
      storeRules: [{ op: 'redact', paths: ['body.text'] }],
      forwardOriginal: true,
      forwardUrl: receiver.url,
    })
    const body = JSON.stringify({ text: 'x'.repeat(100_000) })
    for (let round = 1; round <= 6; round += 1) {
      await endpoint.send({ body, headers: { 'Content-Type': 'application/json' } })
      await attemptsEnded(service, endpoint, round)
    }
    const { ids } = await stored(service)
    expect(await storageOf(service)).toBeGreaterThan(100_000 * ids.length)
    await sweep(service)
    expect((await stored(service)).ids).toEqual(ids.slice(-3))
    expect(await storageOf(service)).toBeWithin(300_000, 400_000)
    const { rows } = await sql<{ id: number }>`
      select request_id as id from request_originals join creel_keys.original_keys using (endpoint_id, request_id)
      order by request_id`.execute(service.db)
    expect(rows.map(({ id }) => id)).toEqual(ids.slice(-3))
    await service.alice.delete(endpoint.at('/requests'))
    expect(await storageOf(service)).toBeLessThan(10_000)
    expect((await readStorage(service.db)).totalBytes).toBeGreaterThan(300_000)
  })

  test('rows from before every byte counted: a sweep counts each of them once', async () => {
    await using receiver = await startReceiver({ status: 200, body: 'x'.repeat(2000) })
    const service = await start({ allowDestinations: ['127.0.0.0/8'] })
    const endpoint = await service.alice.endpoint({ forwardUrl: receiver.url })
    for (let round = 0; round < 8; round += 1) {
      await endpoint.send(round % 2 === 0 ? {} : { headers: { 'X-Long': 'x'.repeat(3000) } })
    }
    await attemptsEnded(service, endpoint, 8)
    const before = await storageOf(service)
    const [first, second] = (await stored(service)).ids.slice(-2)
    // Rows as they are before the migration.
    for (const table of ['requests', 'delivery_attempts', 'attempt_details']) {
      await sql`update ${sql.table(table)} set storage_bytes = null`.execute(service.db)
    }
    await sql`delete from attempt_bytes`.execute(service.db)
    await sql`update endpoint_counters set storage_bytes = stored_bytes + 1024 * stored_request_count`.execute(
      service.db,
    )
    await sql`insert into uncounted_rows values (${endpoint.id}, 'requests', ${second}), (${endpoint.id}, 'attempts', 1000)`.execute(
      service.db,
    )
    // Requests that are moved meanwhile keep their counted bytes.
    for (const id of [first, second]) await service.alice.delete(endpoint.at(`/requests/${id}`))
    await service.alice.post('/api/v1/recycle-bin/restore', { requestIds: [second] })
    for (let sweeps = 0; sweeps < 2; sweeps += 1) await service.runJob('retention.sweep', {})
    await service.alice.post('/api/v1/recycle-bin/restore', { requestIds: [first] })
    expect(await storageOf(service)).toBe(before)
    await expectAllCountersEqualRows(service)
    expect(await sql`select from uncounted_rows`.execute(service.db)).toMatchObject({ rows: [] })
  })

  test('sums of an endpoint are folded while attempts are counted', async () => {
    await using receiver = await startReceiver()
    const service = await start({ allowDestinations: ['127.0.0.0/8'] })
    const endpoint = await service.alice.endpoint({ forwardUrl: receiver.url })
    for (let round = 1; round <= 20; round += 1) {
      await endpoint.send()
      if (round % 5 === 0) await Promise.all([sweep(service), sweep(service)])
    }
    await attemptsEnded(service, endpoint, 20)
    await sweep(service)
    await expectAllCountersEqualRows(service)
    expect((await sql`select from attempt_bytes`.execute(service.db)).rows).toHaveLength(1)
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
    // The bin reports requests that it could not keep for their time, to its owner only.
    expect((await service.charlie.get('/api/v1/recycle-bin')).body).toMatchObject({
      items: [],
      evicted: { count: 1, lastAt: expect.any(String) },
    })
    expect((await service.alice.get('/api/v1/recycle-bin')).body).toMatchObject({
      evicted: { count: 0, lastAt: null },
    })
  })

  test('counts heads: the newest that fit stay', async () => {
    const service = await start({ parts: ['gateway'] })
    const endpoint = await service.alice.endpoint()
    const send = { headers: { 'X-Long': randomBytes(20_000).toString('hex') } }
    for (let round = 0; round < 20; round += 1) await endpoint.send(send)
    const before = await stored(service)
    const bounded = await start({
      parts: ['gateway'],
      storageMaxBytes: 210_000,
      database: service.database,
      clock: service.clock,
      secretKey: service.secretKey,
    })
    await sweep(bounded)
    expect((await stored(service)).ids).toEqual(before.ids.slice(-5))
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
