/**
 * `bun bench/cold.ts [captures] [minutes]`: the first minutes after a start, on a table that is full. It stores 10,000,000
 * captures by default, stops the service with its PostgreSQL, empties the operating system's cache where it may, and
 * starts again. Then it captures at a fixed pace, and reads a first page, a request and a search of another endpoint
 * each time. Reported are p50 and p99 of each minute; `bench/cold.svg` shows p99.9 of captures beside checkpoints and
 * autovacuum.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findEmbeddedPostgres } from '@creel/program'
import { Client } from 'pg'
import { z } from 'zod'
import { startCreel } from './support/creelProcess.ts'
import { fillCaptures } from './support/fill.ts'
import { paced } from './support/paced.ts'
import { percentile, report } from './support/report.ts'
import { type Sample, timeline } from './support/timeline.ts'
import { openBenchFolder, openWorkspace } from './support/workspace.ts'

const captures = Number(process.argv[2] ?? 10_000_000)
const minutes = Number(process.argv[3] ?? 10)
const ENDPOINTS = 1000
const BODY_BYTES = 256
const CAPTURES_PER_SECOND = 500
const READS_PER_SECOND = 10
/** Length of one sample of the plot. */
const WINDOW_SECONDS = 5
const body = JSON.stringify({ type: 'cold', data: 'x'.repeat(990) })

const Page = z.object({ items: z.array(z.object({ id: z.int() })) })
const KINDS = ['capture', 'page 1', 'detail', 'search'] as const
type Kind = (typeof KINDS)[number]
interface Timing {
  readonly kind: Kind
  /** Seconds since the start of the measurement. */
  readonly at: number
  readonly ms: number
}

await using folder = await openBenchFolder()
const urls = await fill()
const emptied = await emptyCache()
const service = await startCreel(folder.env)
const database = await connect()
const startedAt = performance.now()
const seconds = () => (performance.now() - startedAt) / 1000
const timings: Timing[] = []
const checkpoints: number[] = []
const vacuums: number[] = []
await Promise.all([
  paced({ perSecond: CAPTURES_PER_SECOND, seconds: minutes * 60 }, captureOnce),
  paced({ perSecond: READS_PER_SECOND, seconds: minutes * 60 }, readOnce),
  watchMaintenance(),
])
await database.end()
await service.stop()

const group = 'cold table'
report({ group, name: 'captures stored', value: captures, unit: '' })
report({ group, name: "the operating system's cache was emptied", value: emptied ? 1 : 0, unit: '' })
for (let minute = 1; minute <= minutes; minute += 1) {
  for (const kind of KINDS) {
    const took = timings
      .filter((one) => one.kind === kind && Math.ceil(one.at / 60) === minute)
      .map(({ ms }) => ms)
    for (const share of [0.5, 0.99])
      report({
        group,
        name: `${kind} in minute ${minute}, p${share * 100}`,
        value: percentile(took, share),
        unit: 'ms',
      })
  }
}
const samples = Array.from({ length: (minutes * 60) / WINDOW_SECONDS }, (_, index): Sample => {
  const took = timings
    .filter(({ kind, at }) => kind === 'capture' && Math.floor(at / WINDOW_SECONDS) === index)
    .map(({ ms }) => ms)
  return { at: (index + 0.5) * WINDOW_SECONDS, value: percentile(took, 0.999) }
})
await writeFile(
  join(import.meta.dir, 'cold.svg'),
  timeline(`p99.9 of captures at ${CAPTURES_PER_SECOND}/s after a cold start`, 'ms', samples, [
    { name: 'checkpoints', colour: '#c05621', at: checkpoints },
    { name: 'autovacuum and autoanalyze', colour: '#805ad5', at: vacuums },
  ]),
)

interface Endpoint {
  readonly id: string
  readonly url: string
  readonly key: string
}

/** Fills the tables and stops the service. */
async function fill(): Promise<readonly Endpoint[]> {
  const warm = await startCreel(folder.env)
  const owner = await openWorkspace(warm.baseUrl, folder.env)
  const endpoints: Endpoint[] = []
  for (let made = 0; made < ENDPOINTS; made += 1)
    endpoints.push({ ...(await owner.endpoint()), key: owner.key })
  const connection = await connect()
  const endpointIds = endpoints.map(({ id }) => id)
  await fillCaptures(connection, { endpointIds, captures, ageDays: 1, bodyBytes: BODY_BYTES })
  await connection.end()
  await warm.stop()
  return endpoints
}

async function connect(): Promise<Client> {
  const client = new Client({ connectionString: (await findEmbeddedPostgres(folder.dataDir)) ?? '' })
  await client.connect()
  return client
}

/** Empties the cache of files, which needs root on Linux. */
async function emptyCache(): Promise<boolean> {
  await Bun.$`sync`.quiet()
  return await writeFile('/proc/sys/vm/drop_caches', '3').then(
    () => true,
    () => false,
  )
}

async function timed(kind: Kind, act: () => Promise<unknown>): Promise<void> {
  const [at, from] = [seconds(), performance.now()]
  await act()
  timings.push({ kind, at, ms: performance.now() - from })
}

function anyEndpoint(): Endpoint {
  const one = urls[Math.floor(Math.random() * urls.length)]
  if (one === undefined) throw new Error('There is no endpoint.')
  return one
}

/** The address of a capture URL on the service as it is now: the port is another one. */
function moved(url: string): string {
  return service.baseUrl + new URL(url).pathname
}

async function captureOnce(): Promise<void> {
  const url = moved(anyEndpoint().url)
  await timed('capture', async () => {
    const send = () => fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
    // Kept connections may be closed while they are taken again, several at a time: senders then use another one.
    const answer = await send().catch(send).catch(send).catch(send).catch(send)
    await answer.arrayBuffer()
    if (answer.status !== 200) throw new Error(`A capture was answered ${answer.status}.`)
  })
}

async function readOnce(): Promise<void> {
  const { id, key } = anyEndpoint()
  const list = `/api/v1/endpoints/${id}/requests`
  const get = async (path: string) => {
    const answer = await fetch(service.baseUrl + path, { headers: { Authorization: `Bearer ${key}` } })
    const text = await answer.text()
    if (answer.status !== 200) throw new Error(`${path} was answered ${answer.status}: ${text}`)
    return text
  }
  let first = 0
  await timed('page 1', async () => {
    first = Page.parse(JSON.parse(await get(`${list}?pageSize=50`))).items[0]?.id ?? 0
  })
  await timed('detail', () => get(`${list}/${first}`))
  const number = 1 + Math.floor(Math.random() * (captures / ENDPOINTS))
  await timed('search', () => get(`${list}?q=marker-${number}-&pageSize=10`))
}

/** Notes when a checkpoint or a run of autovacuum has ended. */
async function watchMaintenance(): Promise<void> {
  let [before, vacuumedBefore] = await maintenance()
  while (seconds() < minutes * 60) {
    await Bun.sleep(1000)
    const [done, vacuumed] = await maintenance()
    if (done > before) checkpoints.push(seconds())
    if (vacuumed > vacuumedBefore) vacuums.push(seconds())
    ;[before, vacuumedBefore] = [done, vacuumed]
  }
}

async function maintenance(): Promise<[number, number]> {
  const { rows } = await database.query<{ done: number; vacuumed: number }>(
    `select (select (num_timed + num_requested)::int from pg_stat_checkpointer) as done,
            (select sum(autovacuum_count + autoanalyze_count)::int from pg_stat_user_tables) as vacuumed`,
  )
  return [rows[0]?.done ?? 0, rows[0]?.vacuumed ?? 0]
}
