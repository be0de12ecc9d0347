/**
 * `bun bench/await.ts`: how long after its acknowledgement a capture wakes who awaits it: one waiter, and 1 000 at once.
 */
import { get } from 'node:http'
import { percentile, report } from './support/report.ts'
import { startBenchService } from './support/workspace.ts'

const ROUNDS = 50
const CROWD = 1_000

await using service = await startBenchService()
const { id, url } = await service.endpoint()

const alone: number[] = []
for (let round = 0; round < ROUNDS; round += 1) {
  const woken = wait(`round-${round}-`)
  await settled(1)
  const acknowledgedAt = await capture(`round-${round}-`)
  alone.push((await woken) - acknowledgedAt)
}
report({
  group: 'await',
  name: 'one waiter, after the ack, p50',
  value: percentile(alone, 0.5),
  unit: 'ms',
  goal: { atMost: 10 },
})
report({ group: 'await', name: 'one waiter, after the ack, p99', value: percentile(alone, 0.99), unit: 'ms' })

const askedAt = performance.now()
const crowd = Array.from({ length: CROWD }, () => wait('crowd'))
// Each has looked once and waits now: before that, a capture would wake queries that are under way.
await settled(CROWD)
report({
  group: 'await',
  name: '1 000 waiters, until all wait',
  value: performance.now() - askedAt,
  unit: 'ms',
  goal: { atMost: 500 },
})
const acknowledgedAt = await capture('crowd')
const delays = (await Promise.all(crowd)).map((at) => at - acknowledgedAt)
report({
  group: 'await',
  name: '1 000 waiters, after the ack, p50',
  value: percentile(delays, 0.5),
  unit: 'ms',
})
report({ group: 'await', name: '1 000 waiters, after the ack, last', value: Math.max(...delays), unit: 'ms' })

/** On node:http: Bun's fetch runs at most 256 calls at once. */
function wait(text: string): Promise<number> {
  const url = `${service.baseUrl}/api/v1/endpoints/${id}/requests/await?timeoutSeconds=60&q=${text}`
  return new Promise((resolve, reject) => {
    get(url, { agent: false, headers: { Authorization: `Bearer ${service.key}` } }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`An await answered ${response.statusCode}.`))
      response.resume().on('end', () => resolve(performance.now()))
    }).on('error', reject)
  })
}

async function capture(text: string): Promise<number> {
  const response = await fetch(url, { method: 'POST', body: text })
  await response.arrayBuffer()
  return performance.now()
}

/** Until so many awaits wait: the service's own count of them says so. */
async function settled(count: number): Promise<void> {
  for (;;) {
    const metrics = await (await fetch(`${service.baseUrl}/metrics`)).text()
    const waiting = Number(/^creel_awaits_waiting (\d+)$/m.exec(metrics)?.[1] ?? Number.NaN)
    if (Number.isNaN(waiting)) throw new Error('The service does not say how many awaits wait.')
    if (waiting >= count) return
  }
}
