/**
 * `bun run bench:capture [seconds]`: durable captures against a bare echo, on the same machine, in the same run, under the same
 * load. Each figure of Creel stands beside the echo's of the moment before, so the ratio holds on a busy machine too.
 *
 * Ends with an error when a stored request is missing or too many: stored plus evicted must equal acknowledged.
 */
import { join } from 'node:path'
import { z } from 'zod'
import { residentMegabytes, startCreel } from './support/creelProcess.ts'
import { type LoadResult, load } from './support/load.ts'
import { report } from './support/report.ts'
import {
  type BenchEndpoint,
  type BenchWorkspace,
  openBenchFolder,
  openWorkspace,
} from './support/workspace.ts'

const CONNECTIONS = [1, 16, 64, 256]
/** The goals are for 64 connections. */
const GOAL_CONNECTIONS = 64
const WARMUP_SECONDS = 1
const BODY_BYTES = 1024
const CAP = 1_000

const Stats = z.object({ storage: z.object({ storedRequestCount: z.int(), evictedCount: z.int() }) })

const seconds = Number(process.argv[2] ?? 5)
const body = JSON.stringify({ id: 'evt_bench', type: 'bench', data: '' })
const padded = body.replace('"data":""', `"data":"${'x'.repeat(BODY_BYTES - body.length)}"`)

const SECRET = 'a secret of the benchmark'
const SIGNATURE_HEADER = 'X-Bench-Signature'
const signature = new Bun.CryptoHasher('sha256', SECRET).update(padded).digest('hex')

await using folder = await openBenchFolder({ pro: { storedRequestsMax: CAP } })
const echo = Bun.spawn([process.execPath, join(import.meta.dir, 'support/echoServer.ts')], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
const echoPort = Number(await firstLine(echo.stdout))

try {
  const first = await startCreel(folder.env)
  report({
    group: 'boot',
    name: 'first boot to ready',
    value: first.bootMs / 1000,
    unit: 's',
    goal: { atMost: 3 },
  })
  await first.stop()
  const service = await startCreel(folder.env)
  report({
    group: 'boot',
    name: 'later boot to ready',
    value: service.bootMs / 1000,
    unit: 's',
    goal: { atMost: 1 },
  })
  const idle = await residentMegabytes(service.pid)
  report({
    group: 'boot',
    name: 'idle resident memory, without Postgres',
    value: idle,
    unit: 'MB',
    goal: { atMost: 120 },
  })

  const belowCap = await measuredOn('team')
  const atCap = await measuredOn('pro')
  const withAll = await measuredOn('pro')
  await addFeatures(withAll)
  await run({ url: atCap.url, connections: 16, seconds: 0, warmupSeconds: 1 })

  for (const connections of CONNECTIONS) {
    for (const [name, endpoint] of [
      ['below cap', belowCap],
      ['at cap', atCap],
      // At cap; a signature is checked, a condition is evaluated, a watchdog notices each capture.
      ['all features', withAll],
    ] as const) {
      const bare = await run({ url: `http://127.0.0.1:${echoPort}/hook`, connections })
      const storedBefore = await everStored(endpoint)
      const measured = await run({ url: endpoint.url, connections })
      if (name === 'below cap') reportLoad(`bare echo, ${connections} connections`, bare)
      reportLoad(`${name}, ${connections} connections`, measured)
      reportRatio(name, connections, measured.perSecond / bare.perSecond)
      const stored = (await everStored(endpoint)) - storedBefore
      if (stored !== measured.acknowledged || measured.refused > 0) {
        throw new Error(
          `${measured.acknowledged} acknowledged, ${measured.refused} refused, but ${stored} stored`,
        )
      }
    }
  }
  const loaded = await residentMegabytes(service.pid)
  report({ group: 'capture', name: 'resident memory after the load', value: loaded, unit: 'MB' })
  console.log('stored = acknowledged in every run')
  await service.stop()

  async function measuredOn(plan: string): Promise<Measured> {
    const workspace = await openWorkspace(service.baseUrl, folder.env, plan)
    return { ...(await workspace.endpoint()), workspace }
  }
} finally {
  echo.kill()
}

function run(order: {
  url: string
  connections: number
  seconds?: number
  warmupSeconds?: number
}): Promise<LoadResult> {
  return load({
    seconds,
    warmupSeconds: WARMUP_SECONDS,
    body: padded,
    headers: { [SIGNATURE_HEADER]: signature },
    ...order,
  })
}

interface Measured extends BenchEndpoint {
  readonly workspace: BenchWorkspace
}

async function addFeatures({ id, workspace }: Measured): Promise<void> {
  const path = `/api/v1/endpoints/${id}`
  await workspace.call('PATCH', path, { signatureHeader: SIGNATURE_HEADER, signingSecret: SECRET })
  // It must pass the check on save; nothing is ever sent to it.
  await workspace.call('POST', `${path}/actions`, {
    kind: 'forward',
    url: 'http://127.0.0.1:9/',
    condition: { path: 'body.type', op: 'eq', value: 'never' },
  })
  await workspace.call('POST', '/api/v1/watchdogs', { endpointId: id, expectedIntervalSeconds: 3600 })
}

async function everStored({ id, workspace }: Measured): Promise<number> {
  const { storage } = Stats.parse(await workspace.call('GET', `/api/v1/endpoints/${id}/stats`))
  return storage.storedRequestCount + storage.evictedCount
}

function reportLoad(name: string, { perSecond, p50Ms, p99Ms }: LoadResult): void {
  const isGoal = name === `below cap, ${GOAL_CONNECTIONS} connections`
  report({
    group: 'capture',
    name,
    value: perSecond,
    unit: '/s',
    ...(isGoal ? { goal: { atLeast: 10_000 } } : {}),
  })
  report({ group: 'capture', name: `${name}, p50`, value: p50Ms, unit: 'ms' })
  report({
    group: 'capture',
    name: `${name}, p99`,
    value: p99Ms,
    unit: 'ms',
    ...(isGoal ? { goal: { atMost: 25 } } : {}),
  })
}

function reportRatio(name: string, connections: number, value: number): void {
  const goal = connections === GOAL_CONNECTIONS ? { goal: { atLeast: 0.4 } } : {}
  report({
    group: 'capture',
    name: `${name}, ${connections} connections, against the echo`,
    value,
    unit: '×',
    ...goal,
  })
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  for await (const chunk of stream) return new TextDecoder().decode(chunk).trim()
  throw new Error('The echo server said nothing.')
}
