/**
 * `bun bench/search.ts [largest]`: listing, reading and searching endpoints with up to 1 000 000 requests of 1 KB,
 * through the API. With a larger number, at most 10 000 000, so many are searched, warm and with pages only: that takes
 * an hour and 30 GB. Rows are inserted by SQL, in the format of captures: JSON like a payment provider's, with ids of 24
 * letters and digits. Reads are measured right after the fill, when PostgreSQL has no statistics of the rows yet. Searches
 * are walked to their ends, before and after the job has made search pages.
 */
import { findEmbeddedPostgres } from '@creel/program'
import pg from 'pg'
import { z } from 'zod'
import { cpuMicroseconds, postgresMicroseconds, postmasterOf } from './support/cpuTime.ts'
import { load } from './support/load.ts'
import { report } from './support/report.ts'
import { startBenchService } from './support/workspace.ts'

const largest = Number(process.argv[2] ?? 1_000_000)
const SIZES = [60, 10_000, 100_000, 1_000_000].filter((size) => size <= largest)
/** Requests of the searched endpoint. */
const SEARCHED = Math.min(10_000_000, largest)
/** From so many on, searches without pages are left out. */
const HUGE = 2_000_000
/** Milliseconds of processor time that a search with pages should take. */
const MS_MAX = SEARCHED >= HUGE ? 500 : 100
/** Requests that are inserted at once. */
const AT_ONCE = 500_000
/** Walks of each search. */
const WALKS = 3
/** Requests of a search page: the newest, up to so many, have none. */
const PAGE_REQUESTS = 8_192
const SECONDS = 2
/** Concurrent callers, where calls share the service. */
const CROWD = 64
/** Warm-up of a new service: its first calls are interpreted. */
const WARM_SECONDS = 4

/** SQL for an id of 24 letters and digits, by the number of a request and a letter. */
const ID_OF = (letter: string) =>
  `left(translate(encode(sha256(convert_to(n || '${letter}', 'UTF8')), 'base64'), '+/', 'xy'), 24)`
/** SQL for a body of about 1 KB, by the number of its request. */
const BODY_OF = `format('{"id":"evt_%s","object":"event","api_version":"2026-06-30","created":%s,"type":"%s","livemode":true,"pending_webhooks":1,' ||
  '"request":{"id":"req_%s","idempotency_key":null},"data":{"object":{"id":"ch_%s","object":"charge","amount":%s,"amount_captured":0,' ||
  '"balance_transaction":"txn_%s","billing_details":{"address":{"city":null,"country":null,"line1":null,"postal_code":null},' ||
  '"email":"c%s@mail.example","name":"Customer %s","phone":null},"calculated_statement_descriptor":"EXAMPLE","captured":true,' ||
  '"currency":"eur","customer":"cus_%s","description":"Subscription update","disputed":false,"failure_code":null,"invoice":"in_%s",' ||
  '"metadata":{"order":"%s"},"outcome":{"network_status":"approved_by_network","risk_level":"normal","type":"authorized"},"paid":true,' ||
  '"payment_intent":"pi_%s","payment_method":"pm_%s","receipt_url":"https://pay.example.com/receipts/%s"}}}',
  ${ID_OF('e')}, 1790000000 + n, (array['charge.succeeded', 'invoice.paid', 'customer.updated', 'payment_intent.created'])[1 + n % 4],
  ${ID_OF('r')}, ${ID_OF('c')}, n::bigint * 7919 % 100000, ${ID_OF('t')}, n, n, ${ID_OF('u')}, ${ID_OF('i')}, n, ${ID_OF('p')}, ${ID_OF('m')}, ${ID_OF('l')})`

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
const postmaster = await postmasterOf(url ?? '')
const cpu = async () =>
  (await cpuMicroseconds([service.process.pid])) + (await postgresMicroseconds(postmaster))
/** Texts, and the most answers and milliseconds of processor time that a search for them should take with pages. */
const SEARCHES = {
  'the id of the oldest': { q: idOf(1), answers: 1, ms: MS_MAX },
  'a mail address in the middle': { q: `c${SEARCHED >> 1}@mail.example`, answers: 1, ms: MS_MAX },
  nothing: { q: 'nosuchtext', answers: 1, ms: MS_MAX },
  'a text too short for pages': { q: 'Zq%#' },
} as const
if (SEARCHED < HUGE)
  for (const [name, { q }] of Object.entries(SEARCHES)) await searches(`${name}, no pages`, q)
const cpuBefore = await cpuMicroseconds([service.process.pid])
const paged = await allPaged(searched)
const pagesUs = ((await cpuMicroseconds([service.process.pid])) - cpuBefore) / paged
report({
  group: 'search',
  name: 'search pages, processor time of the gateway for a capture',
  value: pagesUs,
  unit: 'µs',
})
for (const [name, { q, ...goals }] of Object.entries(SEARCHES)) await searches(name, q, goals)
await database.end()

/** Walks a search to its end, several times: its answers, and the processor time of all of them. */
async function searches(
  name: string,
  q: string,
  goals: { answers?: number; ms?: number } = {},
): Promise<void> {
  const path = `${listOf(searched)}?partial=true&q=${encodeURIComponent(q)}`
  let answers = 0
  const times: number[] = []
  for (let walk = 0; walk < WALKS; walk += 1) {
    const before = await cpu()
    answers = 0
    for (let next: string | null = ''; next !== null; answers += 1) {
      const page: unknown = await service.call('GET', next === '' ? path : `${path}&before=${next}`)
      next = Page.parse(page).next
    }
    times.push(((await cpu()) - before) / 1000)
  }
  const where = `q of ${name}, ${SEARCHED.toLocaleString('en')} × 1 KB`
  const say = (figure: string, value: number, unit: string, atMost: number | undefined) =>
    report({
      group: 'search',
      name: where + figure,
      value,
      unit,
      ...(atMost === undefined ? {} : { goal: { atMost } }),
    })
  say(', answers', answers, '', goals.answers)
  // Other work on the machine only adds to it.
  say(', processor time', Math.min(...times), 'ms', goals.ms)
}

/** Waits until the job has made pages of all but the newest requests. @returns the number of requests in pages of all endpoints */
async function allPaged(endpoint: string): Promise<number> {
  for (;;) {
    const { rows } = await database.query<{ paged: number; all: number }>(
      'select coalesce(sum(request_count) filter (where endpoint_id = $1), 0)::int as paged, sum(request_count)::int as all from search_pages',
      [endpoint],
    )
    const { all, paged } = rows[0] ?? { all: 0, paged: 0 }
    if (paged > SEARCHED - PAGE_REQUESTS) return all
    await Bun.sleep(1000)
  }
}

/** The id of the event in the body of a request, by its number: as {@link ID_OF} makes it. */
function idOf(n: number): string {
  const digest = new Bun.CryptoHasher('sha256', `${n}e`).digest('base64')
  return `evt_${digest.slice(0, 24).replaceAll('+', 'x').replaceAll('/', 'y')}`
}

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
  for (let from = 1; from <= count; from += AT_ONCE)
    await insert(id, { from, to: Math.min(count, from + AT_ONCE - 1), count })
  await database.query(
    'update endpoint_counters set stored_request_count = $2::int, stored_bytes = $2::int * 1040::bigint, storage_bytes = $2::int * 2064::bigint where endpoint_id = $1',
    [id, count],
  )
  return id
}

async function insert(id: string, { from, to, count }: { from: number; to: number; count: number }) {
  await database.query(
    `insert into requests (endpoint_id, id, received_at, method, path, header_names, header_values, content_type,
       size_bytes, body, body_truncated, body_is_binary, dispatch_state)
     select $1, nextval('request_ids'), now() - ($2::int - n) * interval '1 ms', 'POST', '',
       E'Content-Type\\nUser-Agent', E'application/json\\\\012bench/1', 'application/json', 1024,
       convert_to(body, 'UTF8'), false, false, 'NotAttempted'
     from generate_series($3::int, $4::int) n, lateral (select ${BODY_OF} as body) b`,
    [id, count, from, to],
  )
}
