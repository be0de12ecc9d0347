/**
 * `bun bench/flows.ts [deliveries]`: deliveries a second from a full queue, of an action without a policy and of one that is ordered by
 * 1,000 keys, turn by turn, and how long a capture takes to its receiver at 200/s and at 2,000/s.
 *
 * `bun bench/flows.ts faults [events] [keys]`: 30 % of the attempts are answered 500, and two processes with jobs are killed every two
 * seconds in turn. Ends with an error when a key's first successes are not in the order of the requests, or an event is lost.
 */
import { startEmbeddedPostgres } from '@creel/program'
import { Client } from 'pg'
import { type CreelProcess, startCreel } from './support/creelProcess.ts'
import { report } from './support/report.ts'
import { type BenchWorkspace, openBenchFolder, openWorkspace } from './support/workspace.ts'

const KEYS = 1000
const ROUNDS = 2
const KILL_EVERY_MS = 2000
const FAILING_SHARE = 0.3
const LATENCY_SECONDS = 6
const SENDERS = 32
const isFaults = process.argv[2] === 'faults'

/** Arrivals of the receiver: the keys and numbers of its first successes, in their order, and what each took. */
const arrivals: { readonly key: string; readonly n: number; readonly tookMs: number }[] = []
const seen = new Set<number>()
let failingShare = 0
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const { key, n, at } = (await request.json()) as { key: string; n: number; at: number }
    if (Math.random() < failingShare) return new Response('no', { status: 500 })
    if (!seen.has(n)) arrivals.push({ key, n, tookMs: performance.now() - at })
    seen.add(n)
    return new Response('ok')
  },
})

await using folder = await openBenchFolder()
const quiet = { info: () => {}, warn: console.error, error: console.error }
const postgres = await startEmbeddedPostgres({ dataDir: folder.dataDir, log: quiet, durable: true })
const env = {
  ...folder.env,
  DATABASE_URL: postgres.url,
  CREEL_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
  CREEL_RETRY_SCHEDULE: Array(40).fill('50ms').join(','),
}
const database = new Client({ connectionString: postgres.url })
const gateway = await startCreel(env, ['--only', 'gateway'])
try {
  await database.connect()
  const workspace = await openWorkspace(gateway.baseUrl, env)
  if (isFaults) await faults(workspace, Number(process.argv[3] ?? 10_000), Number(process.argv[4] ?? 500))
  else await speed(workspace, Number(process.argv[2] ?? 20_000))
} finally {
  await gateway.stop()
  await database.end()
  await postgres.stop()
  await server.stop(true)
}

async function speed(workspace: BenchWorkspace, deliveries: number): Promise<void> {
  const plain = await actionOf(workspace, undefined)
  const ordered = await actionOf(workspace, { order: { by: 'body.key' } })
  let [without, withOrder] = [0, 0]
  for (let round = 0; round < ROUNDS; round += 1) {
    without += (await drain(plain, deliveries)) / ROUNDS
    withOrder += (await drain(ordered, deliveries)) / ROUNDS
  }
  const group = 'delivery'
  report({ group, name: `${deliveries} from a full queue, without a policy`, value: without, unit: '/s' })
  report({
    group,
    name: `${deliveries} from a full queue, ordered by ${KEYS} keys`,
    value: withOrder,
    unit: '/s',
  })
  const share = { group, name: 'the share that an order keeps', value: withOrder / without, unit: '' }
  report({ ...share, goal: { atLeast: 0.6 } })
  const jobs = await startCreel(env, ['--only', 'jobs'])
  for (const [name, url] of [
    ['without a policy', plain],
    ['ordered', ordered],
  ] as const) {
    for (const perSecond of [50, 200, 2000]) {
      clear()
      await paced(url, perSecond)
      await arrived(perSecond * LATENCY_SECONDS)
      const took = arrivals.map(({ tookMs }) => tookMs).sort((a, b) => a - b)
      const value = took[Math.floor(took.length * 0.95)] ?? 0
      report({ group, name: `capture to receiver at ${perSecond}/s, ${name}, p95`, value, unit: 'ms' })
    }
  }
  await jobs.stop()
}

async function drain(url: string, deliveries: number): Promise<number> {
  clear()
  await sendAll(url, deliveries, KEYS)
  const jobs = await startCreel(env, ['--only', 'jobs'])
  await arrived(deliveries / 10)
  const [from, before] = [performance.now(), arrivals.length]
  await arrived(deliveries)
  const seconds = (performance.now() - from) / 1000
  await recorded()
  await jobs.stop()
  return (deliveries - before) / seconds
}

async function faults(workspace: BenchWorkspace, events: number, keys: number): Promise<void> {
  failingShare = FAILING_SHARE
  const url = await actionOf(workspace, { order: { by: 'body.key' } })
  const jobs: CreelProcess[] = [
    await startCreel(env, ['--only', 'jobs']),
    await startCreel(env, ['--only', 'jobs']),
  ]
  let isOver = false
  const killing = (async () => {
    for (let turn = 0; !isOver; turn += 1) {
      await Bun.sleep(KILL_EVERY_MS)
      if (isOver) return
      const killed = jobs[turn % 2]
      if (killed !== undefined) process.kill(killed.pid, 'SIGKILL')
      jobs[turn % 2] = await startCreel(env, ['--only', 'jobs'])
    }
  })()
  await sendAll(url, events, keys)
  await arrived(events)
  isOver = true
  await killing
  await recorded()
  for (const one of jobs) await one.stop()
  const { rows } = await database.query<{ body: Buffer }>('select body from requests order by id')
  const stored = rows.map(({ body }) => JSON.parse(body.toString()) as { key: string; n: number })
  for (const [key, got] of Map.groupBy(arrivals, (one) => one.key)) {
    const expected = stored.filter((one) => one.key === key).map(({ n }) => n)
    const first = got.findIndex(({ n }, index) => n !== expected[index])
    if (first >= 0 || got.length !== expected.length) throw new Error(`${key} is out of order at ${first}`)
  }
  report({ group: 'delivery', name: 'events in order through kills', value: arrivals.length, unit: '' })
}

async function actionOf(workspace: BenchWorkspace, delivery: object | undefined): Promise<string> {
  const { id, url } = await workspace.endpoint()
  const action = { kind: 'forward', url: `http://127.0.0.1:${server.port}/`, delivery }
  await workspace.call('POST', `/api/v1/endpoints/${id}/actions`, action)
  return url
}

function clear(): void {
  arrivals.length = 0
  seen.clear()
}

async function arrived(count: number): Promise<void> {
  while (arrivals.length < count) await Bun.sleep(10)
}

/** Waits until nothing is queued or under way. */
async function recorded(): Promise<void> {
  for (;;) {
    const { rows } = await database.query('select from deliveries where finished_at is null limit 1')
    if (rows.length === 0) return
    await Bun.sleep(20)
  }
}

async function sendAll(url: string, count: number, keys: number): Promise<void> {
  let next = 0
  const sender = async () => {
    for (let n = next++; n < count; n = next++) await send(url, n, keys)
  }
  await Promise.all(Array.from({ length: SENDERS }, sender))
}

async function paced(url: string, perSecond: number): Promise<void> {
  const startedAt = performance.now()
  const sends: Promise<void>[] = []
  for (let n = 0; n < perSecond * LATENCY_SECONDS; n += 1) {
    const waitMs = startedAt + (n * 1000) / perSecond - performance.now()
    if (waitMs > 1) await Bun.sleep(waitMs)
    sends.push(send(url, n, KEYS))
  }
  await Promise.all(sends)
}

async function send(url: string, n: number, keys: number): Promise<void> {
  const body = JSON.stringify({ key: `k${n % keys}`, n, at: performance.now() })
  const response = await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
  await response.arrayBuffer()
  if (response.status !== 200) throw new Error(`A capture was answered ${response.status}`)
}
