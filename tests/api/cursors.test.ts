import { beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { z } from 'zod'
import { PROMPT, scanRequests, THOROUGH } from '../../core/src/requests/scan.ts'
import type { Client, TestEndpoint } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { wrongParts } from '../support/problems.ts'
import { startService, type TestService } from '../support/service.ts'

const COUNT = 5

const Page = z.object({
  items: z.array(z.looseObject({ id: z.union([z.string(), z.int()]) })),
  totalCount: z.int(),
  next: z.string().nullable(),
  previous: z.string().nullable(),
  search: z
    .object({
      complete: z.boolean(),
      lookedThrough: z.int(),
      matchedCount: z.int(),
      totalCount: z.int().nullable(),
    })
    .nullish(),
})

let service: TestService
let endpoint: TestEndpoint
let requestIds: readonly number[]

/** Every paginated list. */
const LISTS = {
  endpoints: () => '/api/v1/endpoints',
  requests: () => endpoint.at('/requests'),
  searches: () => endpoint.at('/requests?method=post'),
  deliveries: () => endpoint.at('/deliveries'),
  audit: () => '/api/v1/audit?action=endpoints.create',
  incidents: () => '/api/v1/incidents',
  'the recycle bin': () => '/api/v1/recycle-bin',
  watchdogs: () => '/api/v1/watchdogs',
  'alert channels': () => '/api/v1/alert-channels',
  'sent alerts': () => '/api/v1/alert-channels/deliveries',
} satisfies Record<string, () => string>

const pageOf = async (list: string, query: string, client: Client = service.alice) => {
  const page = await client.expect(client.get(`${list}${list.includes('?') ? '&' : '?'}${query}`), Page)
  return { ...page, ids: page.items.map(({ id }) => id) }
}

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 1_000_000 }, parts: ['gateway'] })
  const { alice, db } = service
  for (let made = 0; made < COUNT - 1; made += 1) await alice.endpoint()
  endpoint = await alice.endpoint()
  requestIds = (await endpoint.captureMany(2 * COUNT)).map(({ id }) => id)
  await alice.post(endpoint.at('/requests/bulk-delete'), { ids: requestIds.slice(0, COUNT) })
  for (let made = 0; made < COUNT; made += 1) {
    const watchdog = { name: `w${made}`, endpointId: endpoint.id, expectedIntervalSeconds: 3600 }
    await alice.expect(alice.post('/api/v1/watchdogs', watchdog), z.looseObject({}))
  }
  // All times are equal, so that the order within them counts.
  const workspace = alice.workspaceId
  await sql`
    insert into incidents (id, workspace_id, kind, severity, subject_type, subject_id, subject_name, count, opened_at)
    select gen_random_uuid(), ${workspace}::uuid, 'watchdog.alarmed', 'critical', 'watchdog', gen_random_uuid(), 'w', 1,
           '2026-11-01T00:00:00Z'::timestamptz from generate_series(1, ${COUNT}::int)`.execute(db)
  await sql`
    insert into alert_channels (id, workspace_id, name, kind, enabled, settings, events, created_at)
    select gen_random_uuid(), ${workspace}::uuid, 'c', 'webhook', true, '{"url":"https://example.com"}', '[]',
           '2026-11-01T00:00:00Z'::timestamptz from generate_series(1, ${COUNT}::int)`.execute(db)
  await sql`
    with alert as (
      insert into alerts (id, workspace_id, event_kind, severity, status, subject_type, subject_id, subject_name, count, occurred_at)
      values (gen_random_uuid(), ${workspace}::uuid, 'watchdog.alarmed', 'critical', 'single', 'watchdog', gen_random_uuid(), 'w', 1, now())
      returning id)
    insert into alert_deliveries (alert_id, workspace_id, lane_id, at, channel_kind, outcome, attempt_count, attempts_max, email_fallback)
    select id, ${workspace}::uuid, ${workspace}::uuid, now(), 'email', 'delivered', 1, 1, false from alert, generate_series(1, ${COUNT}::int)`.execute(
    db,
  )
  await sql`
    insert into delivery_attempts (endpoint_id, workspace_id, request_id, action_id, action_name, kind, state, attempt_number, trigger, url, at)
    select ${endpoint.id}::uuid, ${workspace}::uuid, ${requestIds.at(-1) ?? 0}::bigint, gen_random_uuid(), 'a', 'forward', 'Succeeded', n, 'capture', 'https://example.com', now()
    from generate_series(1, ${COUNT}::int) n`.execute(db)
})

describe.each(Object.keys(LISTS).map((name) => [name] as const))('the cursors of %s', (name) => {
  const path = () => new Map(Object.entries(LISTS)).get(name)?.() ?? ''

  test('walk the whole list, down and up again, to what its pages hold', async () => {
    const all = await pageOf(path(), 'pageSize=100')
    expect([all.ids.length, all.next]).toEqual([COUNT, null])
    const walked = [...(await pageOf(path(), 'pageSize=2')).ids]
    for (let { next } = await pageOf(path(), 'pageSize=2'); next !== null; ) {
      const page = await pageOf(path(), `pageSize=2&before=${next}`)
      walked.push(...page.ids)
      next = page.next
    }
    expect(walked).toEqual(all.ids)
    const third = await pageOf(path(), 'pageSize=1&page=3')
    expect((await pageOf(path(), `after=${third.previous}`)).ids).toEqual(all.ids.slice(0, 2))
    const between = `before=${third.next}&after=${(await pageOf(path(), 'pageSize=1&page=5')).previous}`
    expect((await pageOf(path(), between)).ids).toEqual(all.ids.slice(3, 4))
    expect((await pageOf(path(), `before=${third.next}&page=2&pageSize=1`)).ids).toEqual(all.ids.slice(4))
  })

  test('show another workspace nothing, and are refused when they are none', async () => {
    const { next } = await pageOf(path(), 'pageSize=1')
    const isOfWorkspace = path().startsWith('/api/v1/endpoints/')
    const foreign = await service.charlie.get(`${path()}${path().includes('?') ? '&' : '?'}before=${next}`)
    if (isOfWorkspace) expect(foreign.status).toBe(404)
    else expect(Page.parse(foreign.body).items).toEqual([])
    const at = `${path()}${path().includes('?') ? '&' : '?'}`
    const wrong = `${at}before=never&after=${Buffer.from('1 2 3').toString('base64url')}`
    expect(wrongParts(await service.alice.get(wrong))).toEqual(['?before bad_format', '?after bad_format'])
  })
})

test('a cursor of another list is refused', async () => {
  const lists = Object.entries(LISTS).filter(([name]) => name !== 'searches')
  const taken: string[] = []
  for (const [from, pathOf] of lists) {
    const { next, previous } = await pageOf(pathOf(), 'pageSize=1')
    for (const [to, pathTo] of lists) {
      const at = `${pathTo()}${pathTo().includes('?') ? '&' : '?'}`
      const answer = await service.alice.get(`${at}before=${next}&after=${previous}`)
      if (answer.status === 200) taken.push(`${from} ${to}`)
      else expect(wrongParts(answer)).toEqual(['?before bad_format', '?after bad_format'])
    }
  }
  expect(taken).toEqual(lists.map(([name]) => `${name} ${name}`))
})

test.each(Object.keys(LISTS))('a cursor of %s from a version that named no list is taken', async (name) => {
  const path = new Map(Object.entries(LISTS)).get(name)?.() ?? ''
  const { next } = await pageOf(path, 'pageSize=2')
  const [place = '', ...named] = (next ?? '').split('=')
  expect(named).toHaveLength(1)
  const rest = await pageOf(path, `before=${next}`)
  expect((await pageOf(path, `before=${place}`)).ids).toEqual(rest.ids)
  // That version decodes the whole, and takes ours.
  expect(Buffer.from(next ?? '', 'base64url')).toEqual(Buffer.from(place, 'base64url'))
})

/** Stores requests of 234 KB of text, in which every part of `zürich` is found, and in some of them the whole. */
async function storeLong(
  { id }: TestEndpoint,
  { count, found }: { readonly count: number; readonly found: readonly number[] },
): Promise<void> {
  const store = (select: ReturnType<typeof sql>) => sql`
    insert into requests (endpoint_id, id, received_at, method, path, header_names, header_values, body, size_bytes,
                          body_truncated, body_is_binary, body_preview, dispatch_state)
    ${select}`
  const long = sql`convert_to(repeat('Zurich Zürch ', 18000), 'UTF8')`
  await store(sql`
    select ${id}::uuid, nextval('request_ids'), now(), 'POST', '', '', '', ${long}, 0, false, false, '', 'NotAttempted'
    from generate_series(1, 1)`).execute(service.db)
  // The others copy its compressed body.
  await store(sql`
    select ${id}::uuid, nextval('request_ids'), now(), 'POST',
           case when n = any(${found.map((n) => n - 1)}::int[]) then '/ZÜRICH' else '' end, '', '', body, 0, false, false, '', 'NotAttempted'
    from requests, generate_series(1, ${count - 1}::int) n where endpoint_id = ${id}::uuid order by n`).execute(
    service.db,
  )
  await sql`update endpoint_counters set stored_request_count = ${count}::int where endpoint_id = ${id}::uuid`.execute(
    service.db,
  )
}

describe('a search whose time is up', () => {
  test('answers what it has looked through, and goes on where it ended', async () => {
    const { db, alice } = service
    const large = await alice.endpoint()
    await sql`
      insert into requests (endpoint_id, id, received_at, method, path, header_names, header_values, body, size_bytes,
                            body_truncated, body_is_binary, body_preview, dispatch_state)
      select ${large.id}::uuid, nextval('request_ids'), now(), case when n in (10, 1500, 2400) then 'PUT' else 'POST' end,
             '', '', '', convert_to(case when n in (10, 1500, 2400) then 'a NeeDle' else 'hay-' || n end, 'UTF8'), 0, false, false, '',
             'NotAttempted' from generate_series(1, 2500) n`.execute(db)
    const found: number[] = []
    const steps: number[] = []
    for (let beforeId: number | undefined; ; ) {
      const wanted = { filters: { method: 'put', beforeId }, skip: 0, take: 10, countsAll: true }
      const step = await scanRequests(db, large.id, wanted, {}, { ...THOROUGH, budgetMs: 0 })
      found.push(...step.ids)
      steps.push(step.lookedThrough)
      expect(step.matchedCount).toBe(step.ids.length)
      if (step.lookedTo === null) break
      beforeId = step.lookedTo
    }
    expect(steps).toEqual([1000, 1000, 500])
    const whole = await pageOf(large.at('/requests?method=put'), '')
    expect(found).toHaveLength(3)
    expect(whole.ids).toEqual(found)
    expect(whole.search).toEqual({ complete: true, lookedThrough: 2500, matchedCount: 3, totalCount: 3 })
    // From its second step on, a search for a text takes a shortcut.
    const byText = await pageOf(large.at('/requests?q=NEEDLE'), '')
    expect(byText).toEqual(whole)
    const unsearched = await pageOf(large.at('/requests'), 'pageSize=1')
    expect(unsearched.search).toBeNull()
  })

  test('for a text, begins with few requests, and answers the newest page after one step where they take long', async () => {
    const { db, alice } = service
    const large = await alice.endpoint()
    // 40 MB of text in which every part of the sought text is found, so that no shortcut spares a search any of it.
    await sql`
      insert into requests (endpoint_id, id, received_at, method, path, header_names, header_values, body, size_bytes,
                            body_truncated, body_is_binary, body_preview, dispatch_state)
      select ${large.id}::uuid, nextval('request_ids'), now(), 'POST', '', '', '',
             convert_to(repeat('Zurich Zürch ', 3000) || case when n in (1, 100, 1000) then 'ZÜRICH' else '' end, 'UTF8'), 0,
             false, false, '', 'NotAttempted' from generate_series(1, 1000) n`.execute(db)
    await sql`update endpoint_counters set stored_request_count = 1000 where endpoint_id = ${large.id}::uuid`.execute(
      db,
    )
    const wanted = { filters: { q: 'zürich' }, skip: 0, take: 10, countsAll: true }
    const first = await scanRequests(db, large.id, wanted, {}, { ...PROMPT, budgetMs: 0 })
    expect(first.matchedCount).toBe(1)
    // Their bodies have 42,000 octets each.
    expect(first.lookedThrough).toBe(Math.floor((PROMPT.firstBytes ?? 0) / 42_000))

    const path = large.at(`/requests?q=${encodeURIComponent('zürich')}`)
    const newest = await pageOf(path, 'partial=true')
    expect(newest.ids).toEqual([...first.ids])
    expect(newest.search).toMatchObject({ complete: false, totalCount: null, matchedCount: 1 })
    expect(newest.search?.lookedThrough).toBeLessThan(1000)
    expect(newest.totalCount).toBeGreaterThan(1)
    const walked = [...newest.ids]
    let lookedThrough = newest.search?.lookedThrough ?? 0
    for (let { next } = newest; next !== null; ) {
      const page = await pageOf(path, `before=${next}`)
      walked.push(...page.ids)
      lookedThrough += page.search?.lookedThrough ?? 0
      next = page.next
    }
    expect(walked).toHaveLength(3)
    expect(new Set(walked).size).toBe(3)
    expect(lookedThrough).toBe(1000)
  })

  test('by page numbers, goes to its end', async () => {
    const large = await service.alice.endpoint()
    await storeLong(large, { count: 60, found: [2, 25, 60] })
    const path = large.at(`/requests?q=${encodeURIComponent('zürich')}`)
    const whole = await pageOf(path, '')
    expect(whole.ids).toHaveLength(3)
    expect(whole).toMatchObject({
      totalCount: 3,
      search: { complete: true, lookedThrough: 60, matchedCount: 3, totalCount: 3 },
    })
    const second = await pageOf(path, 'pageSize=1&page=2')
    expect(second).toMatchObject({ ids: whole.ids.slice(1, 2), totalCount: 3 })
    expect((await pageOf(path, 'pageSize=2&page=2')).ids).toEqual(whole.ids.slice(2))
    expect((await pageOf(path, 'page=9')).ids).toEqual([])
  })

  test('by page numbers, is refused when it cannot reach its end, and told of cursors', async () => {
    const large = await service.alice.endpoint()
    await storeLong(large, { count: 8_000, found: [7_999] })
    const path = large.at(`/requests?q=${encodeURIComponent('zürich')}`)
    const refused = await service.alice.get(path)
    expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    expect(refused.headers.get('retry-after')).toBe('5')
    expect(refused.text).toMatch(/cursor.*partial=true/)
    expect((await pageOf(path, 'partial=true')).search).toMatchObject({ complete: false, totalCount: null })
  })

  test('by page numbers, is refused in time where short requests precede long ones', async () => {
    const large = await service.alice.endpoint()
    await storeLong(large, { count: 6_000, found: [5_999] })
    // By these alone, the next step would read all of the long ones.
    await sql`
      insert into requests (endpoint_id, id, received_at, method, path, header_names, header_values, body, size_bytes,
                            body_truncated, body_is_binary, body_preview, dispatch_state)
      select ${large.id}::uuid, nextval('request_ids'), now(), 'POST', '', '', '', convert_to('Zürch', 'UTF8'), 0,
             false, false, '', 'NotAttempted' from generate_series(1, 20000)`.execute(service.db)
    const beganAt = performance.now()
    const refused = await service.alice.get(large.at(`/requests?q=${encodeURIComponent('zürich')}`))
    expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    expect(refused.headers.get('retry-after')).toBe('5')
    expect(refused.text).toMatch(/cursor.*partial=true/)
    expect(performance.now() - beganAt).toBeLessThan(12_000)
  })

  test('by page numbers, does not count the waits for a connection', async () => {
    const { alice, charlie, db, newClient } = service
    const large = await alice.endpoint()
    await storeLong(large, { count: 40, found: [40] })
    const others = await Promise.all(
      [charlie, await newClient()].map(async (client) => ({ client, endpoint: await client.endpoint() })),
    )
    const isHeld = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    const holding = db.transaction().execute(async (trx) => {
      await sql`lock table deliveries in access exclusive mode`.execute(trx)
      isHeld.resolve()
      await release.promise
    })
    await isHeld.promise
    // Each workspace has two of the four connections of searches.
    const stats = others.flatMap(({ client, endpoint }) =>
      [1, 2].map(() => client.get(endpoint.at('/stats'))),
    )
    try {
      await eventually('every connection of searches taken', async () => {
        const { rows } = await sql<{ count: number }>`
          select count(*)::int as count from pg_stat_activity
          where wait_event_type = 'Lock' and datname = current_database()`.execute(db)
        return rows[0]?.count === 4
      })
      const search = pageOf(large.at(`/requests?q=${encodeURIComponent('zürich')}`), '')
      // Longer than a search may work, shorter than it waits for a connection.
      await Bun.sleep(5_500)
      release.resolve()
      expect((await search).search).toMatchObject({ complete: true, lookedThrough: 40, matchedCount: 1 })
    } finally {
      release.resolve()
      await holding
    }
    expect((await Promise.all(stats)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
  })

  test('for a text, gives up a step that takes longer than its time, and goes on where it began', async () => {
    const { db, alice } = service
    const large = await alice.endpoint()
    // The newest are short, so the second step is long; but its bodies have 250 KB.
    const short = 16
    await sql`
      insert into requests (endpoint_id, id, received_at, method, path, header_names, header_values, body, size_bytes,
                            body_truncated, body_is_binary, body_preview, dispatch_state)
      select ${large.id}::uuid, nextval('request_ids'), now(), 'POST', '', '', '',
             convert_to(case when n > 128 then 'Zürch' else repeat('Zurich Zürch ', 18000) end, 'UTF8'), 0,
             false, false, '', 'NotAttempted' from generate_series(1, 128 + ${short}::int) n`.execute(db)
    const wanted = { filters: { q: 'zürich' }, skip: 0, take: 10, countsAll: true }
    const pace = { stepMs: 50, budgetMs: 60, firstRows: short, firstBytes: null }
    const found = await scanRequests(db, large.id, wanted, {}, pace)
    expect(found).toMatchObject({ ids: [], lookedThrough: short })
    const filters = { q: 'zürich', beforeId: found.lookedTo ?? 0 }
    const further = await scanRequests(db, large.id, { ...wanted, filters }, {}, { ...pace, budgetMs: 0 })
    expect(further.lookedThrough).toBe(short)
    // So is a first step whose size was learned from short ones, and the next scan measures again.
    const tooMany = { ...wanted, filters, learned: { ...found.learned, rows: 128 } }
    const givenUp = await scanRequests(db, large.id, tooMany, {}, { ...pace, budgetMs: 0 })
    expect(givenUp).toMatchObject({ ids: [], lookedThrough: 0, lookedTo: found.lookedTo })
    const { learned } = givenUp
    const measured = { ...wanted, filters, learned }
    const again = await scanRequests(db, large.id, measured, {}, { ...pace, budgetMs: 0 })
    expect(again.lookedThrough).toBe(short)
  })

  test('by a cursor, ends as soon as its page is full', async () => {
    const { next } = await pageOf(LISTS.searches(), 'pageSize=1')
    const page = await pageOf(LISTS.searches(), `pageSize=1&before=${next}`)
    expect([page.ids.length, page.next]).toEqual([1, expect.any(String)])
  })
})
