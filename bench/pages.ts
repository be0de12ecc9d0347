/**
 * `bun bench/pages.ts [rounds] [seconds]`: captures beside the job that makes search pages, against captures alone, in
 * bursts that take turns, so that other work on the machine affects both. The job works on another endpoint, as it does
 * on a busy service. Then the cost of the pages themselves, for each capture in them.
 *
 * Ends with an error when a capture was refused. A job that made no page beside captures was paused for all
 * of a burst: use longer ones.
 */
import { makeSearchPages } from '@creel/core/requests'
import { findEmbeddedPostgres } from '@creel/program'
import { Client } from 'pg'
import { cpuMicroseconds, postgresMicroseconds, postmasterOf } from './support/cpuTime.ts'
import { fillCaptures } from './support/fill.ts'
import { load } from './support/load.ts'
import { report } from './support/report.ts'
import { openWorkplace } from './support/workplace.ts'

const ROUNDS = Number(process.argv[2] ?? 7)
const SECONDS = Number(process.argv[3] ?? 3)
const CONNECTIONS = 64
const PAGE_REQUESTS = 8_192
/** More than the job can put into pages during a burst. */
const STOCK = 16 * PAGE_REQUESTS
const BODY_BYTES = 1_024

await using workplace = await openWorkplace()
const { services } = workplace
const url = (await findEmbeddedPostgres(workplace.folder.dataDir)) ?? ''
const database = new Client({ connectionString: url })
await database.connect()
// Only the runs of this program make pages.
await database.query(`delete from pgboss.schedule where name = 'search.pages'`)
const captured = await workplace.endpoint()
const body = JSON.stringify({ type: 'bench', data: 'x'.repeat(BODY_BYTES - 40) })
const pause = async () => undefined
const never = new AbortController().signal

interface Burst {
  readonly perSecond: number
  readonly p99Ms: number
  /** Processor time of the gateway for a capture, in microseconds. */
  readonly gatewayUs: number
}

let madeBeside = 0

async function burst(): Promise<Burst> {
  const before = await cpuMicroseconds([workplace.process.pid])
  const order = { url: captured.url, connections: CONNECTIONS, seconds: SECONDS, warmupSeconds: 0.3, body }
  const { acknowledged, refused, perSecond, p99Ms } = await load(order)
  if (refused > 0) throw new Error(`${refused} captures were refused.`)
  const used = (await cpuMicroseconds([workplace.process.pid])) - before
  return { perSecond, p99Ms, gatewayUs: used / acknowledged }
}

async function stocked(): Promise<void> {
  const { id } = await workplace.endpoint()
  await fillCaptures(database, { endpointIds: [id], captures: STOCK, ageDays: 1, bodyBytes: BODY_BYTES })
}

async function besideTheJob(): Promise<Burst> {
  const ending = new AbortController()
  const making = makeSearchPages(services, ending.signal)
  const result = await burst()
  ending.abort()
  madeBeside += (await making).made
  return result
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

await burst()
const ratios: { readonly rate: number; readonly p99: number; readonly gateway: number }[] = []
for (let round = 0; round < ROUNDS; round += 1) {
  await stocked()
  const isFirst = round % 2 === 0
  const first = isFirst ? await burst() : await besideTheJob()
  const second = isFirst ? await besideTheJob() : await burst()
  const [alone, beside] = isFirst ? [first, second] : [second, first]
  ratios.push({
    rate: beside.perSecond / alone.perSecond,
    p99: beside.p99Ms / alone.p99Ms,
    gateway: beside.gatewayUs / alone.gatewayUs,
  })
  // The next round begins as this one, without requests that lack a page.
  while ((await makeSearchPages(services, never, { pause })).made > 0);
}
const say = (name: string, value: number, unit: string, atMost?: number) =>
  report({ group: 'pages', name, value, unit, ...(atMost === undefined ? {} : { goal: { atMost } }) })
const beside = `${CONNECTIONS} conn., beside the job of search pages / alone`
say(
  `gateway's processor time of a capture, ${beside}`,
  median(ratios.map(({ gateway }) => gateway)),
  '×',
  1.02,
)
say(`rate, ${beside}`, median(ratios.map(({ rate }) => rate)), '×')
say('pages that the job has made beside captures', madeBeside, '')
say(`p99, ${beside}`, median(ratios.map(({ p99 }) => p99)), '×')

await stocked()
const postmaster = await postmasterOf(url)
const used = async () => (await cpuMicroseconds([process.pid])) + (await postgresMicroseconds(postmaster))
const before = await used()
let pages = 0
for (let made = -1; made !== 0; pages += made) made = (await makeSearchPages(services, never, { pause })).made
const perCapture = ((await used()) - before) / (pages * PAGE_REQUESTS)
say('processor time of the pages for each capture in them', perCapture, 'µs')
await database.end()
