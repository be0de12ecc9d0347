/**
 * `bun bench/search.ts [largest]`: listing, reading and searching endpoints with up to 1 000 000 requests of 1 KB,
 * through the API. Rows are inserted by SQL, in the format of captures. Reads are measured right after the fill, when
 * PostgreSQL has no statistics of the rows yet.
 */
import { findEmbeddedPostgres } from '@creel/program'
import pg from 'pg'
import { z } from 'zod'
import { load } from './support/load.ts'
import { percentile, report } from './support/report.ts'
import { startBenchService } from './support/workspace.ts'

const largest = Number(process.argv[2] ?? 1_000_000)
const SIZES = [60, 10_000, 100_000, 1_000_000].filter((size) => size <= largest)
const SEARCHED = 100_000
const CALLS = 30
const SECONDS = 2
/** Concurrent callers, where calls share the service. */
const CROWD = 64
/** Warm-up of a new service: its first calls are interpreted. */
const WARM_SECONDS = 4

const Page = z.object({ items: z.array(z.object({ id: z.int() })), next: z.string().nullable() })

await using service = await startBenchService()
const url = await findEmbeddedPostgres(service.env.CREEL_DATA_DIR ?? '')
const database = new pg.Client({ connectionString: url })
await database.connect()

const warm = await stocked(60)
await p50(listOf(warm), 8, WARM_SECONDS)

const firstPage: number[] = []
for (const size of SIZES) {
  const endpoint = await stocked(size)
  const ms = await p50(listOf(endpoint), 1)
  firstPage.push(ms)
  const name = `page 1 of ${size.toLocaleString('en')} stored`
  report({ group: 'search', name, value: ms, unit: 'ms', goal: { atMost: 2.5 } })
  if (size === 10_000) await reads(endpoint)
}
report({
  group: 'search',
  name: `page 1 at ${(SIZES.at(-1) ?? 0).toLocaleString('en')} against 10,000 stored`,
  value: (firstPage.at(-1) ?? 0) / (firstPage[1] ?? 1),
  unit: '×',
  goal: { atMost: 1.5 },
})

const searched = await stocked(SEARCHED)
for (const [name, query] of [
  ['that nothing matches', 'q=nosuchtext'],
  ['that one row matches', `q=marker-${SEARCHED >> 1}-`],
] as const) {
  report({
    group: 'search',
    name: `q ${name}, over 100,000 × 1 KB`,
    value: await median(`${listOf(searched)}?${query}`),
    unit: 'ms',
    goal: { atMost: 300 },
  })
}
await database.end()

/** Calls whose cost does not depend on the number of requests: `GET /me`, and one request. */
async function reads(endpoint: string): Promise<void> {
  const page = await service.call('GET', `${listOf(endpoint)}?pageSize=1`)
  const [{ id } = { id: 0 }] = Page.parse(page).items
  const figures = [
    ['GET /me', '/api/v1/me', 1],
    ['one request of 1 KB', `${listOf(endpoint)}/${id}`, 2],
    ['page 1 of 10,000 stored', listOf(endpoint), undefined],
  ] as const
  for (const [name, path, atMost] of figures) {
    await p50(path, 8, WARM_SECONDS)
    if (atMost !== undefined) {
      report({ group: 'search', name, value: await p50(path, 1), unit: 'ms', goal: { atMost } })
    }
    const crowded = await p50(path, CROWD)
    const goal = { atMost: 10 }
    report({ group: 'search', name: `${name}, 64 conn.`, value: crowded, unit: 'ms', goal })
  }
  // Equal calls at the same time share one read. These are for different pages, and share none.
  const value = await p50(listOf(endpoint), CROWD, SECONDS, await pagesOf(endpoint, CROWD))
  const name = 'a page of 10,000 stored, 64 conn., each another one'
  report({ group: 'search', name, value, unit: 'ms', goal: { atMost: 10 } })
}

/** The paths of the first pages, each by the cursor of the previous one. */
async function pagesOf(endpoint: string, count: number): Promise<string[]> {
  const paths = [listOf(endpoint)]
  for (let last = paths[0]; last !== undefined && paths.length < count; last = paths.at(-1)) {
    const { next } = Page.parse(await service.call('GET', last))
    paths.push(`${listOf(endpoint)}?before=${next}`)
  }
  return paths
}

/** Median in ms, with this many connections, each with one call in flight. */
async function p50(
  path: string,
  connections: number,
  seconds = SECONDS,
  paths: readonly string[] = [path],
): Promise<number> {
  const { p50Ms, refused } = await load({
    url: service.baseUrl + path,
    paths,
    connections,
    seconds,
    warmupSeconds: 0,
    headers: { Authorization: `Bearer ${service.key}` },
  })
  if (refused > 0) throw new Error(`${refused} calls of ${path} were refused.`)
  return p50Ms
}

function listOf(endpoint: string): string {
  return `/api/v1/endpoints/${endpoint}/requests`
}

/** Inserts requests and updates the counters. */
async function stocked(count: number): Promise<string> {
  const { id } = await service.endpoint()
  await database.query(
    `insert into requests (endpoint_id, id, received_at, method, path, header_names, header_values, content_type,
       size_bytes, body, body_truncated, body_is_binary, body_preview, dispatch_state)
     select $1, nextval('request_ids'), now() - ($2 - n) * interval '1 ms', 'POST', '',
       E'Content-Type\\nUser-Agent', E'application/json\\\\012bench/1', 'application/json', 1024,
       convert_to('marker-' || n || '-' || repeat(md5(n::text), 32), 'UTF8'), false, false, 'marker-' || n, 'NotAttempted'
     from generate_series(1, $2::int) n`,
    [id, count],
  )
  await database.query(
    'update endpoint_counters set stored_request_count = $2, stored_bytes = $2 * 1040, storage_bytes = $2 * 2064 where endpoint_id = $1',
    [id, count],
  )
  return id
}

async function median(path: string): Promise<number> {
  const samples: number[] = []
  for (let call = 0; call < CALLS; call += 1) {
    const startedAt = performance.now()
    await service.call('GET', path)
    samples.push(performance.now() - startedAt)
  }
  return percentile(samples, 0.5)
}
