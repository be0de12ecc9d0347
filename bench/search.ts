/**
 * `bun bench/search.ts`: listing and searching an endpoint that holds 10 000, 100 000 and 1 000 000 requests of 1 KB, through
 * the API. Rows are laid down by SQL, as captures would have; what is measured is the way back out.
 */
import { findEmbeddedPostgres } from '@creel/program'
import pg from 'pg'
import { percentile, report } from './support/report.ts'
import { startBenchService } from './support/workspace.ts'

const SIZES = [10_000, 100_000, 1_000_000]
const SEARCHED = 50_000
const CALLS = 30

await using service = await startBenchService()
const url = await findEmbeddedPostgres(service.env.CREEL_DATA_DIR ?? '')
const database = new pg.Client({ connectionString: url })
await database.connect()

const firstPage: number[] = []
for (const size of SIZES) {
  const endpoint = await stocked(size)
  const ms = await median(`/api/v1/endpoints/${endpoint}/requests`)
  firstPage.push(ms)
  report({ group: 'search', name: `page 1 of ${size.toLocaleString('en')} stored`, value: ms, unit: 'ms' })
}
report({
  group: 'search',
  name: 'page 1 at 1 000 000 against 10 000 stored',
  value: (firstPage.at(-1) ?? 0) / (firstPage[0] ?? 1),
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
    name: `q ${name}, over 50 000 × 1 KB`,
    value: await median(`/api/v1/endpoints/${searched}/requests?${query}`),
    unit: 'ms',
    goal: { atMost: 500 },
  })
}
await database.end()

/** Lays down requests and makes the counters say so. */
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
    'update endpoint_counters set stored_request_count = $2, stored_bytes = $2 * 1040 where endpoint_id = $1',
    [id, count],
  )
  await database.query('vacuum analyze requests')
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
