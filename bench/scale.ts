/**
 * `bun run bench:scale [captures] [endpoints]`: the cost of a full table. By default it stores 10,000,000 captures of
 * 256 bytes over 10,000 endpoints (about 10 GB of disk and some minutes), one of which holds 100,000. It measures
 * captures, lists, searches, retention sweeps and the table itself. Captures are compared with those of the same
 * service on an empty table.
 *
 * Ends with an error when an answer is wrong or a capture was lost.
 */
import { sweepRetention } from '@creel/core/retention'
import { findEmbeddedPostgres } from '@creel/program'
import { Client } from 'pg'
import { z } from 'zod'
import { captureVariants } from './support/captureVariants.ts'
import { cpuMicroseconds, postgresMicroseconds, postmasterOf } from './support/cpuTime.ts'
import { startCreel } from './support/creelProcess.ts'
import { fillCaptures } from './support/fill.ts'
import { load } from './support/load.ts'
import { percentile, report } from './support/report.ts'
import { openWorkplace, type Workplace } from './support/workplace.ts'
import type { BenchEndpoint } from './support/workspace.ts'

const captures = Number(process.argv[2] ?? 10_000_000)
const endpoints = Number(process.argv[3] ?? 10_000)
const LARGE = Math.min(100_000, Math.floor(captures / 10))
const SWEPT = Math.floor(captures / 10)
const BODY_BYTES = 256
const CALLS = 20
const CONNECTIONS = 64
const SECONDS = 5
/** Requests of the endpoint at its cap. */
const CAP = 10_000
const ROUNDS = 3
const body = JSON.stringify({ type: 'scale', data: 'x'.repeat(990) })
const group = 'full table'

const Page = z.object({
  totalCount: z.int(),
  next: z.string().nullable(),
  items: z.array(z.object({ id: z.int(), bodyPreview: z.string().nullable() })),
})

type Call = Workplace['call']

/** A service under measurement: `live` has room, `atCap` is full, `small` holds 10,000. */
interface Site {
  readonly workplace: Workplace
  readonly database: Client
  readonly databaseUrl: string
  readonly live: BenchEndpoint
  readonly atCap: BenchEndpoint
  readonly small: string
}

await using full = await openSite()
const { workplace, database, live } = full
{
  // Both are measured in turns: on a shared machine figures from ten minutes ago mean little.
  await using empty = await openSite()
  await fill()
  await compareCaptures(empty)
  await compareReads(empty)
}
await sweepAndRefill()
await database.end()
await workplace.process.stop()
const again = await startCreel(workplace.env)
say('start to ready', again.bootMs / 1000, 's')
await again.stop()

async function openSite(): Promise<Site & AsyncDisposable> {
  const workplace = await openWorkplace({ pro: { storedRequestsMax: CAP } })
  const databaseUrl = (await findEmbeddedPostgres(workplace.folder.dataDir)) ?? ''
  const database = new Client({ connectionString: databaseUrl })
  // After a failure PostgreSQL is stopped under this connection. Its error must not hide the failure.
  database.on('error', () => {})
  await database.connect()
  const [live, atCap] = await captureVariants(workplace.baseUrl, workplace.env)
  if (live === undefined || atCap === undefined) throw new Error('A variant is missing.')
  const small = (await workplace.endpoint()).id
  await stock(database, [small], 10_000, 1)
  await stock(database, [atCap.id], CAP, 1)
  const site = { workplace, database, databaseUrl, live, atCap, small }
  return { ...site, [Symbol.asyncDispose]: () => workplace[Symbol.asyncDispose]() }
}

async function fill(): Promise<void> {
  const bytesBefore = await tableBytes()
  const startedAt = performance.now()
  const many = await manyEndpoints(endpoints)
  await stock(database, many, captures - LARGE - SWEPT, 1)
  await stock(database, [(await workplace.endpoint()).id], SWEPT, 200)
  say('filled in', (performance.now() - startedAt) / 1000, 's')
  say(
    'disk a capture of 256 bytes, indexes included',
    ((await tableBytes()) - bytesBefore) / captures,
    'bytes',
  )
}

async function compareCaptures(empty: Site): Promise<void> {
  for (const [name, of] of [
    ['below cap', (site: Site) => site.live],
    ['at cap', (site: Site) => site.atCap],
  ] as const) {
    // Warm-up, in which the hot path is compiled.
    for (const site of [empty, full]) await burst(site, of(site).url)
    const sums = { empty: { perSecond: 0, us: 0 }, full: { perSecond: 0, us: 0 } }
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [sum, site] of [
        [sums.empty, empty],
        [sums.full, full],
      ] as const) {
        const { perSecond, us } = await burst(site, of(site).url)
        sum.perSecond += perSecond / ROUNDS
        sum.us += us / ROUNDS
      }
    }
    say(`captures/s, ${name}`, sums.full.perSecond, '/s')
    say(`captures/s, ${name}, against an empty table`, sums.full.perSecond / sums.empty.perSecond, '×', {
      atLeast: 0.9,
    })
    say(`processor time a capture, ${name}, against an empty table`, sums.full.us / sums.empty.us, '×')
  }
}

async function compareReads(empty: Site): Promise<void> {
  const large = (await workplace.endpoint()).id
  await stock(database, [large], LARGE, 1)
  const base = await reads(empty, empty.small, 10_000)
  for (const [name, ms] of Object.entries(await reads(full, large, LARGE))) {
    say(name, ms, 'ms')
    const baseMs = base[name]
    if (baseMs === undefined || !['page 1', 'detail'].includes(name)) continue
    say(`${name}, against 10,000 captures in an empty table`, ms / baseMs, '×', { atMost: 1.5 })
  }
}

/** Measures the deletion of a tenth, and whether the next tenth reuses its space. */
async function sweepAndRefill(): Promise<void> {
  const sizes: number[] = []
  for (let round = 1; round <= ROUNDS; round += 1) {
    const sweepAt = performance.now()
    await sweepRetention(workplace.services, new AbortController().signal)
    say(
      `sweep ${round}, of ${SWEPT.toLocaleString('en')} captures`,
      (performance.now() - sweepAt) / 1000,
      's',
    )
    const vacuumAt = performance.now()
    await database.query('vacuum analyze requests')
    say(`vacuum behind sweep ${round}`, (performance.now() - vacuumAt) / 1000, 's')
    sizes.push(await tableBytes())
    if (round < ROUNDS) await stock(database, [(await workplace.endpoint()).id], SWEPT, 200)
  }
  say(`size after ${ROUNDS} such rounds, against the first`, (sizes.at(-1) ?? 0) / (sizes[0] ?? 1), '×', {
    atMost: 1.1,
  })
}

function say(
  name: string,
  value: number,
  unit: string,
  goal?: { atLeast: number } | { atMost: number },
): void {
  report({ group, name, value, unit, ...(goal === undefined ? {} : { goal }) })
}

async function stock(
  client: Client,
  endpointIds: readonly string[],
  count: number,
  ageDays: number,
): Promise<void> {
  await fillCaptures(client, { endpointIds, captures: count, ageDays, bodyBytes: BODY_BYTES }, (laidDown) =>
    process.stderr.write(`\r${laidDown.toLocaleString('en')} laid down `),
  )
  process.stderr.write('\n')
}

/** Copies the live endpoint, with the rows of its triggers. */
async function manyEndpoints(count: number): Promise<string[]> {
  const { rows: columns } = await database.query<{ name: string }>(
    `select column_name as name from information_schema.columns
     where table_schema = 'public' and table_name = 'endpoints' and column_name <> 'id'`,
  )
  const names = columns.map(({ name }) => name).join(', ')
  const { rows } = await database.query<{ id: string }>(
    `with made as (insert into endpoints (id, ${names})
       select gen_random_uuid(), ${names} from endpoints, generate_series(1, $2::int) where id = $1 returning id)
     , counted as (insert into endpoint_counters (endpoint_id) select id from made on conflict do nothing)
     select id from made`,
    [live.id, count],
  )
  return rows.map(({ id }) => id)
}

async function burst(
  { workplace: { process: running }, databaseUrl }: Site,
  url: string,
): Promise<{ readonly perSecond: number; readonly us: number }> {
  const postmaster = await postmasterOf(databaseUrl)
  const used = async () => (await cpuMicroseconds([running.pid])) + (await postgresMicroseconds(postmaster))
  const usedBefore = await used()
  const result = await load({ url, connections: CONNECTIONS, seconds: SECONDS, warmupSeconds: 1, body })
  if (result.refused > 0) throw new Error(`${result.refused} captures were refused.`)
  return {
    perSecond: result.perSecond,
    us: ((await used()) - usedBefore) / result.acknowledged,
  }
}

/** Medians, in milliseconds, of common reads of a large endpoint. */
async function reads(
  { workplace: { call } }: Site,
  endpoint: string,
  stored: number,
): Promise<Readonly<Record<string, number>>> {
  const at = (rest: string) => `/api/v1/endpoints/${endpoint}/requests${rest}`
  const newest = Page.parse(await call('GET', at('')))
  const id = newest.items[0]?.id ?? 0
  const middle = Page.parse(await call('GET', at(`?beforeId=${id - Math.floor(stored / 2)}&pageSize=1`)))
  const late = await searchToTheEnd(call, at('?q=marker-1-'))
  if (newest.totalCount !== stored || late.found !== 1) throw new Error('A list answers something else.')
  return {
    'page 1': await median(call, at('')),
    'page 100': await median(call, at('?page=100')),
    'half way down, by cursor': await median(call, at(`?before=${middle.next}`)),
    'following, by afterId': await median(call, at(`?afterId=${id - 10}`)),
    detail: await median(call, at(`/${id}`)),
    'an await that is met': await median(call, at(`/await?afterId=${id - 10}&timeoutSeconds=1`)),
    'a search that finds the oldest, a call': await median(call, at('?q=marker-1-')),
    'the same to its end': late.milliseconds,
  }
}

/** Follows `next` to the end of a search. */
async function searchToTheEnd(call: Call, path: string): Promise<{ found: number; milliseconds: number }> {
  const beganAt = performance.now()
  let page = Page.parse(await call('GET', path))
  let found = page.items.length
  while (page.next !== null) {
    page = Page.parse(await call('GET', `${path}&before=${page.next}`))
    found += page.items.length
  }
  return { found, milliseconds: performance.now() - beganAt }
}

async function median(call: Call, path: string): Promise<number> {
  const samples: number[] = []
  for (let sample = 0; sample < CALLS; sample += 1) {
    const calledAt = performance.now()
    await call('GET', path)
    samples.push(performance.now() - calledAt)
  }
  return percentile(samples, 0.5)
}

async function tableBytes(): Promise<number> {
  const { rows } = await database.query<{ bytes: string }>(
    `select pg_total_relation_size('requests') as bytes`,
  )
  return Number(rows[0]?.bytes)
}
