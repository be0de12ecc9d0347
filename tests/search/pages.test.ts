import { beforeAll, describe, expect, test } from 'bun:test'
import type { Trx } from '@creel/core'
import fc from 'fast-check'
import { sql } from 'kysely'
import { z } from 'zod'
import { scanRequests, THOROUGH } from '../../core/src/requests/scan.ts'
import { containsText } from '../../core/src/requests/search.ts'
import { makeSearchPages } from '../../core/src/requests/searchPages/index.ts'
import { slotsOf } from '../../core/src/requests/searchPages/signature.ts'
import { eraseRequests, reduceRequests } from '../../core/src/retention/index.ts'
import type { TestEndpoint } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { startService, type TestService } from '../support/service.ts'

/** Requests of a page with small bodies that the service makes. */
const USUAL_PAGE_REQUESTS = 8_192
/** Smaller blocks, so that some thousand requests fill pages enough. */
const BLOCK = { requests: 32, bytes: 512 * 1024, keptPages: 16 }
const PAGE_REQUESTS = 32 * BLOCK.requests
/** Time for a scan that must reach its end. */
const PACE = { ...THOROUGH, budgetMs: 60_000 }

/** Letters whose cases meet in other letters, or in none; the Kelvin sign and the dotted capital I meet in ASCII. */
const letter = fc.constantFrom(..."kK\u212aiI\u0130ısSßéÉΣσς😀中%_\\' ")
const word = fc.oneof(
  fc.string({ unit: letter, minLength: 1, maxLength: 6 }),
  fc.constantFrom('evt_', 'customer', 'Invoice.Paid', '"type":', '\\u00e9', '%20', '\n', 'ping'),
  fc.nat({ max: 9_999_999 }).map((number) => `n${number}`),
)
const text = fc.array(word, { minLength: 1, maxLength: 12 }).map((words) => words.join(''))
const rare = fc.record({
  path: fc.string({ unit: fc.constantFrom(...'/kKiIsS012é'), maxLength: 12 }).map((path) => `/${path}`),
  query: fc.option(text),
  // Bytes, as senders spell them: UTF-8 or latin1.
  headers: fc
    .tuple(text, fc.boolean())
    .map(([value, isLatin1]) =>
      Buffer.from(value, isLatin1 ? 'latin1' : 'utf8').filter((byte) => byte !== 0),
    ),
  body: fc.oneof(
    { weight: 8, arbitrary: text.map((body) => ({ bytes: Buffer.from(body), isBinary: false })) },
    {
      weight: 1,
      arbitrary: text.map((body) => ({
        bytes: Buffer.concat([Buffer.from([255, 0]), Buffer.from(body)]),
        isBinary: true,
      })),
    },
    { weight: 1, arbitrary: fc.constant({ bytes: Buffer.from(''), isBinary: false }) },
  ),
})
type Rare = typeof rare extends fc.Arbitrary<infer Value> ? Value : never

let service: TestService
/** Texts of which some are stored. */
const samples: Rare[] = fc.sample(rare, { numRuns: 600, seed: 20261124 })

beforeAll(async () => {
  service = await startService({
    limits: { apiRatePerMinute: 1_000_000, storedRequestsMax: 1_000_000 },
    plan: 'self-hosted',
  })
})

/** Stores requests: one in so many has a sample's texts. */
async function store({ id }: TestEndpoint, count: number, oneIn = 3): Promise<void> {
  const of = samples
  await sql`
    with sample as (
      select * from unnest(
        ${of.map(({ path }) => path)}::text[], ${of.map(({ query }) => query)}::text[],
        ${of.map(({ headers }) => Buffer.from(headers).toString('hex'))}::text[], ${of.map(({ body }) => body.bytes.toString('hex'))}::text[],
        ${of.map(({ body }) => body.isBinary)}::boolean[]
      ) with ordinality as s (path, query, headers, body, is_binary, place)
    )
    insert into requests (endpoint_id, id, received_at, method, path, query_string, header_names, header_values, body, size_bytes,
                          body_truncated, body_is_binary, body_preview, dispatch_state)
    select ${id}::uuid, nextval('request_ids'), now(), 'POST', coalesce(s.path, ''), s.query, '',
           coalesce(decode(s.headers, 'hex'), ''), coalesce(decode(s.body, 'hex'), convert_to('{"ordinary":' || n || '}', 'UTF8')), 20, false,
           coalesce(s.is_binary, false), '', 'NotAttempted'
    from (select * from generate_series(1, ${count}::int) n order by n) n
    left join sample s on n % ${oneIn}::int = 1 and s.place = n / ${oneIn}::int % ${of.length} + 1
    order by n`.execute(service.db)
  await sql`
    update endpoint_counters c set stored_request_count = r.stored, stored_bytes = r.bytes, window_count = 0
    from (
      select count(*) as stored, coalesce(sum(octet_length(body)), 0) as bytes from requests
      where endpoint_id = ${id}::uuid and deleted_at is null and hidden_at is null
    ) r
    where c.endpoint_id = ${id}::uuid`.execute(service.db)
}

const makePages = (signal = new AbortController().signal) =>
  makeSearchPages(service.running.services, signal, { block: BLOCK, pause: async () => undefined })

const pagesOf = async ({ id }: TestEndpoint) => {
  const { rows } = await sql<{ blockCount: number; requestCount: number; above: number; top: number }>`
    select block_count as "blockCount", request_count as "requestCount", above, top from search_pages
    where endpoint_id = ${id}::uuid order by above`.execute(service.db)
  return rows
}

/** Whole pages and slices only: none without the other, and none of no use. */
async function expectNoOrphans(): Promise<void> {
  const { rows } = await sql<{ slices: number; wanted: number }>`
    select (select count(*)::int from search_slices) as slices,
      (select coalesce(sum(block_count * 32), 0)::int from search_pages) as wanted`.execute(service.db)
  expect(rows[0]?.slices).toBe(rows[0]?.wanted ?? 0)
}

async function scanned(id: string, q: string, order: 'asc' | 'desc' = 'desc') {
  const wanted = { filters: { q }, order, skip: 0, take: 100_000, countsAll: true }
  return await scanRequests(service.db, id, wanted, {}, PACE)
}

async function matching(id: string, q: string): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select r.id from requests r
    where r.endpoint_id = ${id}::uuid and r.deleted_at is null and r.hidden_at is null and ${containsText(q)}
    order by r.id desc`.execute(service.db)
  return rows.map(({ id: each }) => each)
}

/** Compares searches with full scans, by texts that are stored, in other cases, and by others. */
async function expectExact({ id }: TestEndpoint, numRuns = 20): Promise<void> {
  const part = fc
    .tuple(
      fc.constantFrom(...samples),
      fc.nat({ max: 3 }),
      fc.nat({ max: 40 }),
      fc.integer({ min: 5, max: 30 }),
    )
    .map(([{ body, headers, path, query }, which, from, length]) => {
      const whole =
        [body.bytes.toString(), Buffer.from(headers).toString('latin1'), path, query ?? ''][which] ?? ''
      return [...whole]
        .slice(from % Math.max(1, [...whole].length))
        .slice(0, length)
        .join('')
        .replaceAll('\0', '')
    })
  const q = fc
    .tuple(fc.oneof({ weight: 5, arbitrary: part }, { weight: 1, arbitrary: text }), fc.nat({ max: 2 }))
    .map(([found, change]) =>
      change === 1 ? found.toLowerCase() : change === 2 ? found.toUpperCase() : found,
    )
    .filter((found) => found !== '' && found.isWellFormed())
  const tally = { found: 0, skipping: 0 }
  await fc.assert(
    fc.asyncProperty(q, async (searched) => {
      const found = await scanned(id, searched)
      expect(found.ids).toEqual(await matching(id, searched))
      expect(found.matchedCount).toBe(found.ids.length)
      expect((await scanned(id, searched, 'asc')).ids.toReversed()).toEqual([...found.ids])
      tally.found += Math.min(1, found.ids.length)
      tally.skipping += Math.min(1, found.skipped)
    }),
    { numRuns },
  )
  // Else the property would say nothing.
  expect(tally.found).toBeGreaterThan(0)
  expect(tally.skipping).toBeGreaterThan(0)
}

describe('a search with pages', () => {
  test('finds what a full scan finds, and reads little of what is stored', async () => {
    // An endpoint without requests needs no page.
    await service.alice.endpoint()
    const endpoint = await service.alice.endpoint()
    await store(endpoint, USUAL_PAGE_REQUESTS + 900, 14)
    await service.runJob('search.pages', {})
    expect(await pagesOf(endpoint)).toMatchObject([{ blockCount: 32, requestCount: USUAL_PAGE_REQUESTS }])
    // Only the tests make pages from here on: a run of the schedule beside theirs removes the page that they are storing.
    await service.running.boss.offWork('search.pages')
    await expectExact(endpoint)
    const none = await scanned(endpoint.id, 'nowhere-to-be-found')
    expect(none.skipped).toBeGreaterThan(USUAL_PAGE_REQUESTS - 300)
    expect(none.lookedThrough).toBeLessThan(1_400)
    await expectNoOrphans()
  })

  test('goes on where requests arrive, are imported, binned, restored and evicted', async () => {
    const { alice, db } = service
    const endpoint = await alice.endpoint()
    await store(endpoint, PAGE_REQUESTS + 100)
    await makePages()
    await endpoint.capture({ body: '{"arrived":"later-needle"}' })
    const exported = await alice.get(endpoint.at('/requests/export?format=ndjson&q=later-needle'))
    await alice.expect(endpoint.importLines(exported.text), z.looseObject({ importedCount: z.literal(1) }))
    expect((await scanned(endpoint.id, 'Later-Needle')).ids).toHaveLength(2)
    // The next page has the imported one, too.
    await store(endpoint, PAGE_REQUESTS)
    await makePages()
    const pages = await pagesOf(endpoint)
    expect(pages).toHaveLength(2)
    expect(pages[1]?.above).toBe(pages[0]?.top ?? 0)
    const [imported, captured] = (await scanned(endpoint.id, 'Later-Needle')).ids
    expect(captured).toBeLessThanOrEqual(pages[1]?.top ?? 0)
    const remove = { requestIds: [captured] }
    await alice.expect(
      alice.post(endpoint.at('/requests/bulk-delete'), remove),
      z.looseObject({ deletedCount: z.literal(1) }),
    )
    expect((await scanned(endpoint.id, 'later-needle')).ids).toEqual([imported ?? 0])
    await alice.expect(
      alice.post('/api/v1/recycle-bin/restore', { requestIds: [captured] }),
      z.looseObject({}),
    )
    expect((await scanned(endpoint.id, 'later-needle')).ids).toEqual([imported ?? 0, captured ?? 0])
    await expectExact(endpoint)

    // All requests of the first page go, and those of the second in part.
    const mark = (pages[1]?.above ?? 0) + 400
    await sql`delete from requests where endpoint_id = ${endpoint.id}::uuid and id < ${mark}`.execute(db)
    await sql`update endpoint_counters set oldest_request_id = ${mark} where endpoint_id = ${endpoint.id}::uuid`.execute(
      db,
    )
    await store(endpoint, 10)
    await expectExact(endpoint)
    await makePages()
    expect(await pagesOf(endpoint)).toHaveLength(1)
    await expectExact(endpoint)
    // The pages that are no longer used are deleted by the next run.
    await makePages()
    await expectNoOrphans()
  })

  test('is the same when a run is cut off or killed, two are under way, or pages lack parts', async () => {
    const { db } = service
    const cut = await service.alice.endpoint()
    await store(cut, 2 * PAGE_REQUESTS + 100)
    const ending = new AbortController()
    const cutOff = makePages(ending.signal)
    ending.abort()
    expect(await cutOff).toEqual({ made: 0, merged: 0 })
    await db.transaction().execute(async (holding) => {
      await sql`lock table search_slices in access exclusive mode`.execute(holding)
      const killed = makePages().catch((error: unknown) => error)
      await eventually('the end of a run that stores a page', async () => {
        const { rows } = await sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like '%insert search slices%'`.execute(
          db,
        )
        return rows.length > 0
      })
      expect(await killed).toBeInstanceOf(Error)
    })
    expect(await pagesOf(cut)).toEqual([])
    await expectNoOrphans()
    const runs = await Promise.all([makePages(), makePages()])
    expect(runs.reduce((sum, { made }) => sum + made, 0)).toBe(2)
    expect(await pagesOf(cut)).toHaveLength(2)
    await expectNoOrphans()
    await expectExact(cut)
    // A page that lost its slices skips nothing.
    await sql`
      delete from search_slices where slice % 3 = 0 and page_id in (
        select id from search_pages where endpoint_id = ${cut.id}::uuid order by id limit 1)`.execute(
      service.db,
    )
    const [{ id = 0 } = {}] = (
      await sql<{ id: number }>`select id from search_pages where endpoint_id = ${cut.id}::uuid`.execute(
        service.db,
      )
    ).rows
    await expectExact(cut)
    await sql`delete from search_slices where page_id = ${id}`.execute(service.db)
    await sql`delete from search_pages where id = ${id}`.execute(service.db)
    await expectExact(cut)
  })

  test('has none of a deleted endpoint, of a busy one, and of a workspace that moves', async () => {
    const { alice, db } = service
    const [deleted, busy, moving] = [
      await alice.endpoint(),
      await alice.endpoint(),
      await service.charlie.endpoint(),
    ]
    for (const one of [deleted, busy, moving]) await store(one, PAGE_REQUESTS)
    await alice.delete(deleted.at(''))
    await sql`
      update endpoint_counters set window_count = 6000, window_started_at = ${service.clock.now()}
      where endpoint_id = ${busy.id}::uuid`.execute(db)
    await sql`
      insert into workspace_moves (id, workspace_id, workspace_name, to_cell, state, progress, started_at, changed_at)
      values (gen_random_uuid(), ${service.charlie.workspaceId}, 'c', 'two', 'copying', '{}', now(), now())`.execute(
      db,
    )
    await makePages()
    for (const one of [deleted, busy, moving]) expect(await pagesOf(one)).toEqual([])
    await service.clock.advance(61_000)
    await sql`update workspace_moves set state = 'aborted'`.execute(db)
    await makePages()
    expect([await pagesOf(busy), await pagesOf(moving)]).toMatchObject([[{}], [{}]])
    await sql`delete from endpoints where id = ${busy.id}::uuid`.execute(db)
    await makePages()
    await expectNoOrphans()
  })

  test.each([
    [
      'erased',
      async (trx: Trx, endpointId: string, ids: readonly number[]) => {
        await eraseRequests(service.running.services, trx, endpointId, ids)
      },
    ],
    ['reduced to traces', reduceRequests],
  ])('keeps no signature of requests that are %s', async (_, forget) => {
    const erasing = await service.alice.endpoint()
    const { id } = await erasing.capture({ body: '{"mail":"erased-needle@example.com"}' })
    await store(erasing, PAGE_REQUESTS)
    await makePages()
    const [first] = await pagesOf(erasing)
    expect(first?.above).toBeLessThan(id)
    await service.db.transaction().execute((trx) => forget(trx, erasing.id, [id]))
    expect(await pagesOf(erasing)).toEqual([])
    await store(erasing, 300)
    await makePages()
    await makePages()
    expect(await pagesOf(erasing)).toHaveLength(1)
    const slots = slotsOf('erased-needle@')
    const bits = await sql<{ isSet: boolean }>`
      select substring(s.bits from slot % 256 * 4 + 1 for 4) <> '\\x00000000'::bytea as "isSet"
      from unnest(${slots}::int[]) slot
      join search_slices s on s.slice = slot / 256
      join search_pages p on p.id = s.page_id and p.endpoint_id = ${erasing.id}::uuid`.execute(service.db)
    expect(bits.rows).toHaveLength(slots.length)
    expect(bits.rows.some(({ isSet }) => !isSet)).toBe(true)
    await expectNoOrphans()
    expect((await scanned(erasing.id, 'erased-needle')).ids).toEqual([])
  })

  test('reads merged pages of many requests', async () => {
    const { alice } = service
    const large = await alice.endpoint()
    await store(large, 32 * PAGE_REQUESTS + 50)
    // On a busy machine a run may end before all of it is done.
    await eventually(
      'merged pages',
      async () => {
        await makePages()
        return (await pagesOf(large)).some(({ blockCount }) => blockCount === 512)
      },
      { seconds: 500 },
    )
    const pages = await pagesOf(large)
    expect(pages.map(({ blockCount }) => blockCount)).toEqual([512, ...Array.from({ length: 16 }, () => 32)])
    expect(pages.slice(1).map(({ above }) => above)).toEqual(pages.slice(0, -1).map(({ top }) => top))
    const rareOnes = ['{"ordinary":7776}', '{"ordinary":20001}', '"ORDINARY":31', 'no such text']
    for (const q of rareOnes) {
      const found = await scanned(large.id, q)
      expect(found.ids).toEqual(await matching(large.id, q))
      expect(found.skipped).toBeGreaterThan(32 * PAGE_REQUESTS - 2_500)
    }
    // Pages are looked up before anything is read.
    expect((await scanned(large.id, 'no such text')).lookedThrough).toBeLessThan(1_000)
    // Through the API: exactly by page numbers, and by cursors.
    const Page = z.looseObject({
      items: z.array(z.looseObject({ id: z.int() })),
      totalCount: z.int(),
      next: z.string().nullable(),
      search: z.looseObject({ complete: z.boolean(), lookedThrough: z.int() }),
    })
    const read = (query: string) => alice.expect(alice.get(large.at(`/requests?${query}`)), Page)
    const whole = await read('q=nary%22:77&pageSize=50')
    const ids = await matching(large.id, 'nary":77')
    expect(whole.items.map(({ id }) => id)).toEqual(ids.slice(0, 50))
    expect(whole).toMatchObject({
      totalCount: ids.length,
      search: { complete: true, lookedThrough: 32 * PAGE_REQUESTS + 50 },
    })
    const walked: number[] = []
    let page = await read('q=nary%22:77&partial=true&pageSize=7')
    for (;;) {
      walked.push(...page.items.map(({ id }) => id))
      if (page.next === null) break
      page = await read(`q=nary%22:77&pageSize=7&before=${page.next}`)
    }
    expect(walked).toEqual(ids)
    const upward: number[] = []
    page = await read('q=nary%22:77&order=asc&partial=true&pageSize=9')
    for (;;) {
      upward.push(...page.items.map(({ id }) => id))
      if (page.next === null) break
      page = await read(`q=nary%22:77&order=asc&pageSize=9&before=${page.next}`)
    }
    expect(upward.toReversed()).toEqual(ids)
    await makePages()
    await expectNoOrphans()
  })
})
