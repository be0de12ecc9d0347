/**
 * `bun run bench:delivery [deliveries] [rounds]`: the time from a capture to its receiver, in one process and in two;
 * deliveries a second with recorded attempts, with their processor time; and the cost of one dead destination for live
 * ones. Receiver and PostgreSQL are separate processes.
 *
 * Ends with an error when a delivery was not made, or the queue is not empty at the end. Duplicates are counted.
 */
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@creel/program'
import { Client } from 'pg'
import { cpuMicroseconds, postgresMicroseconds, postmasterOf } from './support/cpuTime.ts'
import { startCreel } from './support/creelProcess.ts'
import type { DeliveryReport } from './support/deliveryReport.ts'
import { report } from './support/report.ts'
import { openBenchFolder, openWorkspace } from './support/workspace.ts'

const due = Number(process.argv[2] ?? 30_000)
const BODY = JSON.stringify({ id: 'evt_bench', type: 'bench', data: 'x'.repeat(970) })
const WARMUP_SECONDS = 3
/**
 * Deliveries from a full queue before the measurement. Until then the process runs uncompiled code, and each takes
 * twice the processor time.
 */
const WARM_DELIVERIES = 15_000
const LATENCY_SECONDS = 8
const rounds = Number(process.argv[3] ?? 2)
/** The dead destination's share of the mixed load. */
const DEAD_SHARE = 0.05

await using folder = await openBenchFolder()
const quiet = { info: () => {}, warn: console.error, error: console.error }
const postgres = await startEmbeddedPostgres({ dataDir: folder.dataDir, log: quiet, durable: true })
const env = {
  ...folder.env,
  DATABASE_URL: postgres.url,
  CREEL_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
}
const receiver = Bun.spawn([process.execPath, join(import.meta.dir, 'support/deliveryReceiver.ts')], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
const receiverUrl = `http://127.0.0.1:${await firstLine(receiver.stdout)}`
const database = new Client({ connectionString: postgres.url })

try {
  const gateway = await startCreel(env, ['--only', 'gateway'])
  await database.connect()
  const workspace = await openWorkspace(gateway.baseUrl, env)
  const { url: live } = await workspace.endpoint({ forwardUrl: `${receiverUrl}/live` })
  const { url: dead } = await workspace.endpoint({ forwardUrl: `${receiverUrl}/dead` })

  // One process that captures and delivers, with the gateway standing by; then that gateway and a process with jobs.
  const whole = await startCreel(env)
  await latencies('one process', live.replace(gateway.baseUrl, whole.baseUrl), {
    1: { p50: 7, p99: 100 },
    50: { p50: 5, p99: 100 },
  })
  await whole.stop()
  let jobs = await startCreel(env, ['--only', 'jobs'])
  await latencies('two processes', live, { 1: { p50: 15, p99: 100 }, 50: { p50: 15, p99: 100 } })

  const postmaster = await postmasterOf(postgres.url)
  const used = async () => ({
    jobs: await cpuMicroseconds([jobs.pid]),
    postgres: await postgresMicroseconds(postmaster),
  })
  let [alone, mixed, duplicates] = [0, 0, 0]
  const costs = { jobs: 0, postgres: 0 }
  // In turns, so that other work on the machine affects both. The order changes, because tables grow from turn to turn
  // and search pages are made of the captures of earlier ones.
  for (let round = 0; round < rounds; round += 1) {
    const isReversed = round % 2 === 1
    if (isReversed) mixed += (await drain([live, dead])) / rounds
    alone += (await drain([live])) / rounds
    if (!isReversed) mixed += (await drain([live, dead])) / rounds
  }
  const group = 'delivery'
  const name = `${due} from a full queue`
  report({ group, name: `${name}, live alone`, value: alone, unit: '/s', goal: { atLeast: 5_500 } })
  report({ group, name: `${name}, beside one dead destination`, value: mixed, unit: '/s' })
  for (const part of ['jobs', 'postgres'] as const)
    report({ group, name: `${name}, ${part} a delivery`, value: costs[part] / (2 * rounds), unit: 'µs' })
  report({ group, name: 'sent more than once', value: duplicates, unit: '' })
  const cost = Math.max(0, (1 - mixed / alone) * 100)
  const share = `${DEAD_SHARE * 100} % more deliveries, to a dead destination, cost the live ones`
  report({ group, name: share, value: cost, unit: '%', goal: { atMost: 10 } })
  await jobs.stop()
  await gateway.stop()

  async function latencies(
    where: string,
    url: string,
    goals: Readonly<Record<number, { readonly p50: number; readonly p99: number }>>,
  ): Promise<void> {
    // Warm-up: the first sends of a process are interpreted.
    await paced(url, 50, WARMUP_SECONDS)
    for (const [perSecond, { p50, p99 }] of Object.entries(goals)) {
      await drained()
      await received()
      await paced(url, Number(perSecond), LATENCY_SECONDS)
      await drained()
      const { p50Ms, p99Ms } = await received()
      const name = `capture to receiver at ${perSecond}/s, ${where}`
      report({ group: 'delivery', name: `${name}, p50`, value: p50Ms, unit: 'ms', goal: { atMost: p50 } })
      report({ group: 'delivery', name: `${name}, p99`, value: p99Ms, unit: 'ms', goal: { atMost: p99 } })
    }
  }

  /**
   * Fills the queue while no jobs process runs. Then measures live deliveries after the warm-up, until the last record.
   */
  async function drain(urls: string[]): Promise<number> {
    await jobs.stop()
    const total = WARM_DELIVERIES + due
    await many(urls, total)
    const stored = await succeeded()
    jobs = await startCreel(env, ['--only', 'jobs'])
    const warm = await arrived(WARM_DELIVERIES)
    const before = await used()
    // The database is queried as late as possible, since counting would slow it down.
    await arrived(total)
    while ((await succeeded()) - stored < total) await Bun.sleep(5)
    const seconds = (performance.now() - warm.at) / 1000
    const after = await used()
    for (const part of ['jobs', 'postgres'] as const)
      costs[part] += (after[part] - before[part]) / (total - warm.count)
    const { arrived: sent, distinct } = await received()
    if (distinct !== total) throw new Error(`${total} deliveries were due, ${distinct} arrived`)
    duplicates += sent - distinct
    // Open deliveries to the dead destination would disturb the next turn.
    await database.query('delete from deliveries')
    return (total - warm.count) / seconds
  }
} finally {
  receiver.kill()
  await database.end()
  await postgres.stop()
}

async function received(): Promise<DeliveryReport> {
  return (await (await fetch(`${receiverUrl}/report`)).json()) as DeliveryReport
}

/** Waits for `count` distinct deliveries since the last report; returns the number that was seen, and the time. */
async function arrived(count: number): Promise<{ count: number; at: number }> {
  for (;;) {
    const seen = Number(await (await fetch(`${receiverUrl}/arrivals`)).text())
    if (seen >= count) return { count: seen, at: performance.now() }
    await Bun.sleep(20)
  }
}

async function succeeded(): Promise<number> {
  const { rows } = await database.query(
    "select count(*)::int as count from delivery_attempts where state = 'Succeeded'",
  )
  return rows[0].count
}

/** Waits until nothing is queued or in flight. */
async function drained(): Promise<void> {
  for (;;) {
    const { rows } = await database.query(
      'select count(*)::int as count from deliveries where finished_at is null',
    )
    if (rows[0].count === 0) return
    await Bun.sleep(20)
  }
}

async function paced(url: string, perSecond: number, seconds: number): Promise<void> {
  const startedAt = performance.now()
  const sends: Promise<void>[] = []
  for (let index = 0; index < perSecond * seconds; index += 1) {
    await Bun.sleep(Math.max(0, startedAt + (index * 1000) / perSecond - performance.now()))
    sends.push(send(url))
  }
  await Promise.all(sends)
}

/** `count` captures to the first URL, on 32 connections, and the dead share to each further one, spread among them. */
async function many([url = '', ...others]: string[], count: number): Promise<void> {
  const every = Math.round(1 / DEAD_SHARE)
  let next = 0
  const sender = async () => {
    for (let index = next++; index < count; index = next++) {
      await send(url)
      if (index % every === 0) for (const other of others) await send(other)
    }
  }
  await Promise.all(Array.from({ length: 32 }, sender))
}

async function send(url: string): Promise<void> {
  const at = performance.timeOrigin + performance.now()
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'x-bench-at': String(at) },
    body: BODY,
  })
  await response.arrayBuffer()
  if (response.status !== 200) throw new Error(`A capture was answered ${response.status}`)
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true })
    const end = text.indexOf('\n')
    if (end >= 0) return text.slice(0, end)
  }
  throw new Error('The receiver did not start.')
}
