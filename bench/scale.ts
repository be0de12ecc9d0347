/**
 * `bun run bench:scale [captures] [endpoints]`: what a full table costs. Lays down 10,000,000 captures of 256 bytes over 10,000 endpoints
 * (unless told otherwise; 10,000,000 take about 10 GB of disk and some minutes), one of which holds 100,000, and measures captures, lists,
 * searches, a retention sweep and the table itself. Captures stand beside those of the same service before the fill.
 *
 * Ends with an error when an answer is wrong or a capture was lost.
 */
import { sweepRetention } from '@creel/core/retention'
import { findEmbeddedPostgres } from '@creel/program'
import { Client } from 'pg'
import { z } from 'zod'
import { cpuMicroseconds, postgresProcesses } from './support/cpuTime.ts'
import { fillCaptures } from './support/fill.ts'
import { load } from './support/load.ts'
import { percentile, report } from './support/report.ts'
import { openWorkplace } from './support/workplace.ts'

const captures = Number(process.argv[2] ?? 10_000_000)
const endpoints = Number(process.argv[3] ?? 10_000)
const LARGE = Math.min(100_000, Math.floor(captures / 10))
const SWEPT = Math.floor(captures / 10)
const BODY_BYTES = 256
const CALLS = 20
const CONNECTIONS = 64
const SECONDS = 3
const body = JSON.stringify({ type: 'scale', data: 'x'.repeat(990) })
const group = 'scale'

const Page = z.object({
  totalCount: z.int(),
  next: z.string().nullable(),
  items: z.array(z.object({ id: z.int(), bodyPreview: z.string().nullable() })),
})

await using workplace = await openWorkplace()
const url = (await findEmbeddedPostgres(workplace.folder.dataDir)) ?? ''
const database = new Client({ connectionString: url })
// When something here fails, PostgreSQL is stopped beneath this connection: the failure is what should be read.
database.on('error', () => {})
await database.connect()

const live = await workplace.endpoint()
const small = await stocked([(await workplace.endpoint()).id], 10_000, 1)
await burst()
const before = await burst()
const readBefore = await reads(small, 10_000)

const bytesBefore = await tableBytes()
const startedAt = performance.now()
const many = await manyEndpoints(endpoints)
await stocked(many, captures - LARGE - SWEPT, 1)
const large = await stocked([(await workplace.endpoint()).id], LARGE, 1)
await stocked([(await workplace.endpoint()).id], SWEPT, 200)
say('filled in', (performance.now() - startedAt) / 1000, 's')
say('disk a capture of 256 bytes, indexes included', ((await tableBytes()) - bytesBefore) / captures, 'bytes')

const after = await burst()
say('captures/s on the full table', after.perSecond, '/s')
say('captures/s, full against empty', after.perSecond / before.perSecond, '×', { atLeast: 0.9 })
say('processor time a capture, full against empty', after.us / before.us, '×')

const readAfter = await reads(large, LARGE)
for (const [name, ms] of Object.entries(readAfter)) {
  const base = readBefore[name]
  say(name, ms, 'ms')
  const isBounded = name === 'page 1' || name === 'detail'
  if (base !== undefined && isBounded)
    say(`${name}, against 10,000 captures in an empty table`, ms / base, '×', { atMost: 1.5 })
}

const sweepAt = performance.now()
await sweepRetention(workplace.services, new AbortController().signal)
say(`sweep of ${SWEPT.toLocaleString('en')} captures`, (performance.now() - sweepAt) / 1000, 's')
const vacuumAt = performance.now()
await database.query('vacuum analyze requests')
say('vacuum behind it', (performance.now() - vacuumAt) / 1000, 's')
const bytesSwept = await tableBytes()
await stocked([(await workplace.endpoint()).id], SWEPT, 1)
say('size after as many again, against the size swept', (await tableBytes()) / bytesSwept, '×', {
  atMost: 1.1,
})
await database.end()

function say(
  name: string,
  value: number,
  unit: string,
  goal?: { atLeast: number } | { atMost: number },
): void {
  report({ group, name, value, unit, ...(goal === undefined ? {} : { goal }) })
}

/** Fills endpoints, and answers the first. */
async function stocked(endpointIds: readonly string[], count: number, ageDays: number): Promise<string> {
  await fillCaptures(database, { endpointIds, captures: count, ageDays, bodyBytes: BODY_BYTES }, (laidDown) =>
    process.stderr.write(`\r${laidDown.toLocaleString('en')} laid down `),
  )
  process.stderr.write('\n')
  return endpointIds[0] ?? ''
}

/** Copies of the live one, with its triggers' rows. */
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

async function burst(): Promise<{ perSecond: number; us: number }> {
  const pids = [workplace.process.pid, ...(await postgresProcesses(url))]
  const usedBefore = await cpuMicroseconds(pids)
  const result = await load({
    url: live.url,
    connections: CONNECTIONS,
    seconds: SECONDS,
    warmupSeconds: 1,
    body,
  })
  if (result.refused > 0) throw new Error(`${result.refused} captures were refused.`)
  return {
    perSecond: result.perSecond,
    us: ((await cpuMicroseconds(pids)) - usedBefore) / result.acknowledged,
  }
}

/** Medians, in milliseconds, of what people do with an endpoint that holds so many captures. */
async function reads(endpoint: string, stored: number): Promise<Readonly<Record<string, number>>> {
  const at = (rest: string) => `/api/v1/endpoints/${endpoint}/requests${rest}`
  const newest = Page.parse(await workplace.call('GET', at('')))
  const id = newest.items[0]?.id ?? 0
  const middle = Page.parse(
    await workplace.call('GET', at(`?beforeId=${id - Math.floor(stored / 2)}&pageSize=1`)),
  )
  const late = await searchToTheEnd(at('?q=marker-1-'))
  if (newest.totalCount !== stored || late.found !== 1) throw new Error('A list answers something else.')
  return {
    'page 1': await median(at('')),
    'page 100': await median(at('?page=100')),
    'half way down, by cursor': await median(at(`?before=${middle.next}`)),
    'following, by afterId': await median(at(`?afterId=${id - 10}`)),
    detail: await median(at(`/${id}`)),
    'an await that is met': await median(at(`/await?afterId=${id - 10}&timeoutSeconds=1`)),
    'a search that finds the oldest, a call': await median(at('?q=marker-1-')),
    'the same to its end': late.milliseconds,
  }
}

/** Follows `next` until everything was looked through. */
async function searchToTheEnd(path: string): Promise<{ found: number; milliseconds: number }> {
  const beganAt = performance.now()
  let page = Page.parse(await workplace.call('GET', path))
  let found = page.items.length
  while (page.next !== null) {
    page = Page.parse(await workplace.call('GET', `${path}&before=${page.next}`))
    found += page.items.length
  }
  return { found, milliseconds: performance.now() - beganAt }
}

async function median(path: string): Promise<number> {
  const samples: number[] = []
  for (let call = 0; call < CALLS; call += 1) {
    const calledAt = performance.now()
    await workplace.call('GET', path)
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
