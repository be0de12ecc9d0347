/**
 * `bun bench/peers.ts [seconds]`: Creel beside peers that are running already, under the same load, one after the other. An
 * adapter needs a peer's address only:
 *
 *   CREEL_BENCH_REQUEST_BASKETS_URL=http://127.0.0.1:55555 CREEL_BENCH_WEBHOOK_TESTER_URL=http://127.0.0.1:8080 bun bench/peers.ts
 */
import { z } from 'zod'
import { load } from './support/load.ts'
import { report } from './support/report.ts'
import { startBenchService } from './support/workspace.ts'

const seconds = Number(process.argv[2] ?? 5)
const BODY = JSON.stringify({ type: 'peer', data: 'x'.repeat(990) })
const CONNECTIONS = 64

/** How to get a capture URL out of a peer. */
interface Peer {
  readonly name: string
  readonly variable: string
  readonly makeCaptureUrl: (baseUrl: string) => Promise<string>
}

const PEERS: readonly Peer[] = [
  {
    name: 'request-baskets',
    variable: 'CREEL_BENCH_REQUEST_BASKETS_URL',
    async makeCaptureUrl(baseUrl) {
      const name = `creel${Date.now()}`
      await post(`${baseUrl}/api/baskets/${name}`, { capacity: 2000 })
      return `${baseUrl}/${name}`
    },
  },
  {
    name: 'webhook-tester',
    variable: 'CREEL_BENCH_WEBHOOK_TESTER_URL',
    async makeCaptureUrl(baseUrl) {
      const answer = await post(`${baseUrl}/api/session`, {
        status_code: 200,
        headers: [],
        delay: 0,
        response_body_base64: '',
      })
      return `${baseUrl}/${z.looseObject({ uuid: z.string() }).parse(answer).uuid}`
    },
  },
]

await using service = await startBenchService()
const { url } = await service.endpoint()
await measure('creel', url)
for (const { name, variable, makeCaptureUrl } of PEERS) {
  const baseUrl = process.env[variable]
  if (baseUrl === undefined) console.log(`peers      ${name}: not measured, ${variable} is not set`)
  else await measure(name, await makeCaptureUrl(baseUrl))
}

async function measure(name: string, captureUrl: string): Promise<void> {
  const { perSecond, p99Ms } = await load({
    url: captureUrl,
    connections: CONNECTIONS,
    seconds,
    warmupSeconds: 1,
    body: BODY,
  })
  report({
    group: 'peers',
    name: `${name}: captures/s at ${CONNECTIONS} connections`,
    value: perSecond,
    unit: '/s',
  })
  report({ group: 'peers', name: `${name}: p99`, value: p99Ms, unit: 'ms' })
}

async function post(url: string, body: unknown): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`POST ${url} answered ${response.status}`)
  return await response.json()
}
