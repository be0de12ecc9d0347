import { beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { sql } from 'kysely'
import { eventually } from '../support/eventually.ts'
import { startService } from '../support/service.ts'

/** Limit for a round of the bystander's calls, on a machine that does nothing else. */
const BYSTANDER_MS_MAX = 1000
/** On a busy one, this multiple of the slowest round before or after the searches. */
const ROUNDS_OF_QUIET = 10
const SEARCHES = 20
const STORED = 2_000
/** Every part of the sought text is in it, so that no shortcut spares a search any: it takes all of its time. */
const SENTENCE = 'It is nowhere to be found. Été. '
/** Together some 80 MB of text. */
const BODY_BYTES = 40_000
/** Longest time of a search for a text, without the wait for its turn. */
const SEARCH_MS = 240

const service = await startService({ parts: ['gateway'] })
const { alice, charlie, db } = service
const endpoint = await alice.endpoint()
const bystander = await charlie.endpoint()
const search = `/api/v1/endpoints/${endpoint.id}/requests?partial=true&q=${encodeURIComponent('nowhere to be foundé')}`

beforeAll(async () => {
  await sql`
    insert into requests (endpoint_id, id, received_at, method, path, header_names, header_values, body, size_bytes,
                          body_truncated, body_is_binary, body_preview, dispatch_state)
    select ${endpoint.id}::uuid, n, now(), 'POST', '', '', '',
           convert_to(repeat(${SENTENCE}, ${BODY_BYTES / SENTENCE.length}::int), 'UTF8'), ${BODY_BYTES}, false, false, '', 'NotAttempted'
    from generate_series(1, ${STORED}) n`.execute(db)
  await sql`update endpoint_counters set stored_request_count = ${STORED}::int where endpoint_id = ${endpoint.id}::uuid`.execute(
    db,
  )
})

const activeSearches = async () => {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from pg_stat_activity
    where state = 'active' and pid <> pg_backend_pid() and datname = current_database() and query like '%as looked,%'
  `.execute(db)
  return rows[0]?.count ?? 0
}

/** The slowest of some rounds of the bystander's calls, in milliseconds. */
async function slowestRound(): Promise<number> {
  let slowest = 0
  for (let round = 0; round < 5; round += 1) {
    const startedAt = performance.now()
    expect((await charlie.get('/api/v1/me')).status).toBe(200)
    expect((await fetch(bystander.url, { method: 'POST', body: 'x' })).status).toBe(200)
    expect((await charlie.get(`/api/v1/endpoints/${bystander.id}/requests?q=x`)).status).toBe(200)
    slowest = Math.max(slowest, performance.now() - startedAt)
  }
  return slowest
}

describe('many long searches of one workspace', () => {
  test('another workspace captures and reads as before; hanging up prints nothing', async () => {
    const printed = spyOn(console, 'error')
    const before = await slowestRound()
    const hangUp = new AbortController()
    const flood = Array.from({ length: SEARCHES }, () =>
      alice.get(search, { signal: hangUp.signal }).catch(() => undefined),
    )
    await eventually('a search under way', async () => (await activeSearches()) > 0)
    const during = await slowestRound()
    expect(await activeSearches()).toBeLessThanOrEqual(2)
    hangUp.abort()
    await Promise.all(flood)
    await eventually('the end of every search', async () => (await activeSearches()) === 0)
    const quiet = Math.max(before, await slowestRound())
    expect(during).toBeLessThan(Math.max(BYSTANDER_MS_MAX, ROUNDS_OF_QUIET * quiet))
    // The connection is free again when the cancelled query has ended for us, too.
    expect((await alice.get(search.replace(/q=.*/, 'q=nothing-like-it'))).status).toBe(200)
    expect(printed).not.toHaveBeenCalled()
    printed.mockRestore()
  })

  test('clients that poll for what is new wait for none of them', async () => {
    const hangUp = new AbortController()
    // Without an end: a search ends after some time, however slow the machine is, and all of them might before the polls.
    const flood = Array.from({ length: SEARCHES * 2 }, async () => {
      while (!hangUp.signal.aborted) await alice.get(search, { signal: hangUp.signal }).catch(() => undefined)
    })
    await eventually('a search under way', async () => (await activeSearches()) > 0)
    const path = `/api/v1/endpoints/${endpoint.id}/requests?afterId=${STORED - 5}&pageSize=100`
    const polls = await Promise.all(Array.from({ length: 24 }, () => alice.get(path)))
    // They are answered while the others still wait for each other.
    await eventually('a search still under way', async () => (await activeSearches()) > 0)
    expect(polls.map(({ status }) => status)).toEqual(polls.map(() => 200))
    expect(polls[0]?.body).toMatchObject({
      totalCount: 5,
      search: { complete: true, lookedThrough: 5 },
      items: [{ id: STORED }, { id: STORED - 1 }, {}, {}, {}],
    })
    hangUp.abort()
    await Promise.all(flood)
    await eventually('the end of every search', async () => (await activeSearches()) === 0)
  })

  test('those that would wait longer than ten seconds are refused with the wait, and memory of them ends', async () => {
    const hangUp = new AbortController()
    // From now on the service knows how long such a search takes.
    expect((await alice.get(search)).status).toBe(200)
    const flood = Array.from({ length: Math.ceil(60_000 / SEARCH_MS) }, () =>
      alice.get(search, { signal: hangUp.signal }).then(
        ({ status, headers }) => {
          if (status === 429) hangUp.abort()
          return { status, retryAfter: Number(headers.get('retry-after')) }
        },
        () => undefined,
      ),
    )
    const answers = (await Promise.all(flood)).filter((answer) => answer !== undefined)
    const refused = answers.find(({ status }) => status === 429)
    expect(refused?.retryAfter).toBeWithin(10, 61)
    await eventually('the end of every search', async () => (await activeSearches()) === 0)
    expect((await alice.get(search.replace(/q=.*/, 'q=nothing-like-it'))).status).toBe(200)
  })

  test('a short one that must be exact reaches its end, however long it waits for its turns', async () => {
    const short = await alice.endpoint()
    await sql`
      insert into requests (endpoint_id, id, received_at, method, path, header_names, header_values, body, size_bytes,
                            body_truncated, body_is_binary, body_preview, dispatch_state)
      select ${short.id}::uuid, id + 100000, received_at, method, path, header_names, header_values, body, size_bytes,
             body_truncated, body_is_binary, body_preview, dispatch_state
      from requests where endpoint_id = ${endpoint.id}::uuid limit 250`.execute(db)
    const hangUp = new AbortController()
    const flood = Array.from({ length: 24 }, async () => {
      while (!hangUp.signal.aborted) await alice.get(search, { signal: hangUp.signal }).catch(() => undefined)
    })
    await eventually('searches under way', async () => (await activeSearches()) > 1)
    const exact = await alice.get(short.at(`/requests?q=${encodeURIComponent('nowhere to be foundé')}`))
    hangUp.abort()
    await Promise.all(flood)
    expect(exact).toMatchObject({ status: 200, body: { totalCount: 0, search: { lookedThrough: 250 } } })
  })
})
