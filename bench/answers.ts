/**
 * `bun bench/answers.ts [--rounds 9] [--seconds 2] [--connections 8]`: answers of endpoints that script or relay them.
 *
 * 200 receivers hang while answers are relayed from them. Beside them run a healthy endpoint with its own answer, and one
 * whose answer is relayed from a fast receiver. Bursts with and without the hanging ones take turns, so that other work
 * on the machine affects both. Reported are the medians of the latencies, and of the ratios within a round.
 *
 * It also reports the median processor time of a capture with its own answer, a scripted one and a counted one.
 */
import { parseArgs } from 'node:util'
import { findEmbeddedPostgres } from '@creel/program'
import { z } from 'zod'
import { BODY, HEADERS } from './support/captureVariants.ts'
import { cpuMicroseconds, postgresMicroseconds, postmasterOf } from './support/cpuTime.ts'
import { type LoadResult, load } from './support/load.ts'
import { percentile, report } from './support/report.ts'
import { startBenchService } from './support/workspace.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '2' },
    connections: { type: 'string', default: '8' },
  },
})
const HANGING = 200
const P99_GOAL = { atMost: 1.2 }
const WARM_SECONDS = 5
const UNREACHED = 1_000_000_000

await using service = await startBenchService()
let hanging = 0
using receivers = Bun.serve({
  port: 0,
  idleTimeout: 0,
  fetch(request) {
    if (new URL(request.url).pathname === '/fast') return new Response('<Response/>')
    hanging += 1
    return new Promise<Response>(() => {})
  },
})

/** An endpoint whose answer is that of a receiver. */
async function relayed(path: string) {
  const endpoint = await service.endpoint()
  const at = `/api/v1/endpoints/${endpoint.id}`
  const action = z
    .object({ id: z.string() })
    .parse(
      await service.call('POST', `${at}/actions`, { kind: 'forward', url: `${receivers.url.origin}${path}` }),
    )
  await service.call('PATCH', at, {
    answerFrom: {
      actionId: action.id,
      timeoutMs: 10_000,
      fallback: { status: 503, headers: {}, body: 'late' },
    },
  })
  return endpoint
}

const scripted = (times: number | null) => ({
  responses: [{ status: 200, headers: {}, body: 'scripted', times }],
})
const plain = { name: 'own answer', ...(await service.endpoint()) }
const healthy = [plain, { name: 'relayed answer', ...(await relayed('/fast')) }]
const costs = [
  plain,
  { name: 'scripted answer', ...(await service.endpoint(scripted(null))) },
  { name: 'scripted and counted', ...(await service.endpoint(scripted(UNREACHED))) },
]
const hung = await Promise.all(Array.from({ length: HANGING }, (_, at) => relayed(`/hang/${at}`)))

function burst(url: string, connections: number, seconds: number, warmupSeconds = 0.3): Promise<LoadResult> {
  return load({ url, connections, seconds, warmupSeconds, body: BODY, headers: HEADERS })
}

/** Sends a capture to each endpoint that hangs, and returns once all wait for their receivers. */
async function hang(): Promise<() => Promise<void>> {
  const before = hanging
  const senders = new AbortController()
  const sent = hung.map(({ url }) =>
    fetch(url, { method: 'POST', body: BODY, signal: senders.signal }).catch(() => undefined),
  )
  while (hanging - before < HANGING) await Bun.sleep(5)
  return async () => {
    senders.abort()
    await Promise.all(sent)
  }
}

const connections = Number(values.connections)
const seconds = Number(values.seconds)
const rounds = Number(values.rounds)
for (const { url } of [...healthy, ...costs]) await burst(url, connections, 0, WARM_SECONDS)

const beside = new Map(
  healthy.map(({ name }) => [name, { alone: [] as number[], hung: [] as number[], ratio: [] as number[] }]),
)
for (let round = 0; round < rounds; round += 1) {
  for (const { name, url } of healthy) {
    const samples = beside.get(name)
    const measure = async (withHanging: boolean) => {
      const release = withHanging ? await hang() : undefined
      const { p99Ms } = await burst(url, connections, seconds)
      await release?.()
      return p99Ms
    }
    // The one that goes first changes by round.
    const first = await measure(round % 2 === 1)
    const second = await measure(round % 2 === 0)
    const [alone, withHung] = round % 2 === 1 ? [second, first] : [first, second]
    samples?.alone.push(alone)
    samples?.hung.push(withHung)
    samples?.ratio.push(withHung / alone)
  }
}
for (const [name, { alone, hung: withHung, ratio }] of beside) {
  report({ group: 'answers', name: `${name}, p99`, value: percentile(alone, 0.5), unit: 'ms' })
  report({
    group: 'answers',
    name: `${name}, p99 beside ${HANGING} hanging receivers`,
    value: percentile(withHung, 0.5),
    unit: 'ms',
  })
  report({
    group: 'answers',
    name: `${name}, p99 beside them against alone`,
    value: percentile(ratio, 0.5),
    unit: '×',
    goal: P99_GOAL,
  })
}

const postgres = (await findEmbeddedPostgres(service.folder.dataDir)) ?? ''
const postmaster = await postmasterOf(postgres)
const used = async () =>
  (await cpuMicroseconds([service.process.pid])) + (await postgresMicroseconds(postmaster))
const spent = new Map(costs.map(({ name }) => [name, [] as number[]]))
for (let round = 0; round < rounds; round += 1) {
  for (const { name, url } of costs) {
    const before = await used()
    const { acknowledged } = await burst(url, 64, 1)
    spent.get(name)?.push(((await used()) - before) / acknowledged)
  }
}
for (const [name, samples] of spent) {
  report({
    group: 'answers',
    name: `${name}, gateway and PostgreSQL`,
    value: percentile(samples, 0.5),
    unit: 'µs',
  })
}
