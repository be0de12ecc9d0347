import { beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { makeSearchPages } from '../../core/src/requests/searchPages/index.ts'
import { eraseRequests } from '../../core/src/retention/index.ts'
import type { TestEndpoint } from '../support/client.ts'
import { startService, type TestService } from '../support/service.ts'

/** Small blocks, so that few requests fill a page, and some thousand a merged one. */
const BLOCK = { requests: 2, bytes: 512 * 1024, keptPages: 0 }
const PAGE_REQUESTS = 32 * BLOCK.requests
/** Endpoints that a run finds at once. */
const FOUND_AT_ONCE = 50

let service: TestService

beforeAll(async () => {
  service = await startService({
    limits: { apiRatePerMinute: 1_000_000 },
    plan: 'self-hosted',
    parts: ['gateway'],
  })
})

/** A run to its end, however slow the machine is. It merges all pages that it can. */
const run = () =>
  makeSearchPages(
    service.running.services,
    new AbortController().signal,
    { block: BLOCK, pause: async () => undefined },
    600_000,
  )

/** @param bytes of a body, as it is counted */
async function store({ id }: TestEndpoint, count: number, bytes = 20): Promise<void> {
  await sql`
    insert into requests (endpoint_id, id, received_at, method, path, header_names, header_values, body, size_bytes,
                          body_truncated, body_is_binary, body_preview, dispatch_state)
    select ${id}::uuid, nextval('request_ids'), now(), 'POST', '', '', '', convert_to('{"ordinary":' || n || '}', 'UTF8'), 20,
           false, false, '', 'NotAttempted'
    from generate_series(1, ${count}::int) n`.execute(service.db)
  await sql`
    update endpoint_counters
    set stored_request_count = stored_request_count + ${count}::int, stored_bytes = stored_bytes + ${count}::bigint * ${bytes}::bigint
    where endpoint_id = ${id}::uuid`.execute(service.db)
}

interface StoredPage {
  readonly id: number
  readonly blockCount: number
  readonly above: number
  readonly top: number
  readonly requestCount: number
}

async function pagesOf({ id }: TestEndpoint): Promise<readonly StoredPage[]> {
  const { rows } = await sql<StoredPage>`
    select id, block_count as "blockCount", above, top, request_count as "requestCount" from search_pages
    where endpoint_id = ${id}::uuid order by above`.execute(service.db)
  return rows
}

async function endpoints(count: number): Promise<readonly TestEndpoint[]> {
  return await Promise.all(Array.from({ length: count }, () => service.alice.endpoint()))
}

test('a run passes over endpoints whose requests fill no page, and serves all others', async () => {
  const barren = await endpoints(FOUND_AT_ONCE + 10)
  // Long, by the counters, and binary: they have hardly a text.
  for (const one of barren) await store(one, 30, 20_000_000)
  const ordinary = await endpoints(5)
  for (const one of ordinary) await store(one, PAGE_REQUESTS)
  await run()
  for (const one of ordinary) expect(await pagesOf(one)).toHaveLength(1)
  for (const one of barren) expect(await pagesOf(one)).toEqual([])
  // They get one once their requests fill it.
  const [one] = barren
  if (one === undefined) throw new Error('There are endpoints.')
  await store(one, PAGE_REQUESTS, 20_000_000)
  await run()
  expect(await pagesOf(one)).toHaveLength(1)
})

test('a run reads no requests of endpoints where little has changed', async () => {
  const [few, some] = await endpoints(2)
  if (few === undefined || some === undefined) throw new Error('There are endpoints.')
  await store(few, PAGE_REQUESTS - 8)
  await store(some, PAGE_REQUESTS + 30)
  await run()
  await store(some, 20)
  await service.db.transaction().execute(async (holding) => {
    await sql`lock table requests in access exclusive mode`.execute(holding)
    // It would wait for the lock.
    expect(await run()).toEqual({ made: 0, merged: 0 })
  })
  await store(few, 8)
  await store(some, 20)
  await run()
  expect([await pagesOf(few), await pagesOf(some)]).toMatchObject([[{}], [{}, {}]])
})

test('of an endpoint that is always busy, the older requests get pages', async () => {
  const [busy] = await endpoints(1)
  if (busy === undefined) throw new Error('There is an endpoint.')
  await sql`
    update endpoint_counters set window_count = 6000, window_started_at = ${service.clock.now()}
    where endpoint_id = ${busy.id}::uuid`.execute(service.db)
  await store(busy, 4 * PAGE_REQUESTS)
  await run()
  expect(await pagesOf(busy)).toEqual([])
  await store(busy, 2 * PAGE_REQUESTS + 10)
  await run()
  expect(await pagesOf(busy)).toHaveLength(2)
})

test('the page of erased requests alone is made again', async () => {
  const [endpoint] = await endpoints(1)
  if (endpoint === undefined) throw new Error('There is an endpoint.')
  await store(endpoint, 5 * PAGE_REQUESTS + 20)
  await run()
  const before = await pagesOf(endpoint)
  expect(before).toHaveLength(5)
  const erased = before[2]?.top ?? 0
  await service.db
    .transaction()
    .execute((trx) => eraseRequests(service.running.services, trx, endpoint.id, [erased]))
  const others = before.filter(({ top }) => top !== erased)
  expect(await pagesOf(endpoint)).toEqual(others)
  await run()
  const after = await pagesOf(endpoint)
  expect(after.filter(({ top }) => top !== erased)).toEqual(others)
  expect(after[2]).toMatchObject({
    above: before[2]?.above ?? 0,
    top: erased,
    requestCount: PAGE_REQUESTS - 1,
  })
  expect(after[2]?.id).not.toBe(before[2]?.id ?? 0)
})

test('a merge that fails is made up for, and delays no other', async () => {
  const [broken, whole] = await endpoints(2)
  if (broken === undefined || whole === undefined) throw new Error('There are endpoints.')
  await store(broken, 15 * PAGE_REQUESTS)
  await run()
  const [first] = await pagesOf(broken)
  await sql`delete from search_slices where page_id = ${first?.id ?? 0} and slice % 7 = 0`.execute(service.db)
  await store(broken, PAGE_REQUESTS)
  await store(whole, 16 * PAGE_REQUESTS)
  await run()
  expect((await pagesOf(whole))[0]?.blockCount).toBe(512)
  await run()
  const pages = await pagesOf(broken)
  expect(pages[0]).toMatchObject({ blockCount: 512, above: first?.above ?? 0 })
  expect(pages.slice(1).map(({ above }) => above)).toEqual(pages.slice(0, -1).map(({ top }) => top))
})

test('an endpoint whose page cannot be made delays no other, and the run says so', async () => {
  const [failing, ...others] = await endpoints(4)
  if (failing === undefined) throw new Error('There are endpoints.')
  for (const one of [failing, ...others]) await store(one, PAGE_REQUESTS)
  await sql`
    create function refuse_page() returns trigger language plpgsql as $$ begin raise 'refused'; end $$`.execute(
    service.db,
  )
  const { rows } = await sql<{ top: number }>`
    select max(id) as top from requests where endpoint_id = ${failing.id}::uuid`.execute(service.db)
  await sql`
    create trigger refuse_page before insert on search_pages for each row when (new.top = ${sql.lit(rows[0]?.top ?? 0)})
    execute function refuse_page()`.execute(service.db)
  const refused = await run().catch((error: unknown) => error)
  expect(refused).toMatchObject({ message: 'refused' })
  for (const one of others) expect(await pagesOf(one)).toHaveLength(1)
  await sql`drop trigger refuse_page on search_pages`.execute(service.db)
  await run()
  expect(await pagesOf(failing)).toHaveLength(1)
})
