/**
 * `bun bench/await.ts`: the time from the acknowledgement of a capture until its waiters wake: one waiter, and 1 000 at
 * once.
 */
import { processorMilliseconds } from './support/creelProcess.ts'
import { isWholeAnswer } from './support/httpAnswer.ts'
import { percentile, report } from './support/report.ts'
import { startBenchService } from './support/workspace.ts'

const ROUNDS = 50
const CROWD = 1_000
/** The median round is reported: in the first one the service has never had so many waiters. */
const CROWD_ROUNDS = 5
/** Interval of polling the number of waiters. Each poll takes time from arriving ones. */
const LOOK_MS = 20

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

const settling: number[] = []
const processor: number[] = []
const half: number[] = []
const last: number[] = []
for (let round = 0; round < CROWD_ROUNDS; round += 1) {
  const usedBefore = await processorMilliseconds(service.process.pid)
  const askedAt = performance.now()
  const crowd = Array.from({ length: CROWD }, () => wait(`crowd-${round}-`))
  // Each await has run its first query and waits now. Before that, a capture would wake queries in flight.
  await settled(CROWD)
  settling.push(performance.now() - askedAt)
  const acknowledgedAt = await capture(`crowd-${round}-`)
  const delays = (await Promise.all(crowd)).map((at) => at - acknowledgedAt)
  half.push(percentile(delays, 0.5))
  last.push(Math.max(...delays))
  processor.push((await processorMilliseconds(service.process.pid)) - usedBefore)
}
report({
  group: 'await',
  name: '1 000 waiters, until all wait',
  value: percentile(settling, 0.5),
  unit: 'ms',
  goal: { atMost: 500 },
})
report({
  group: 'await',
  name: '1 000 waiters, after the ack, p50',
  value: percentile(half, 0.5),
  unit: 'ms',
})
report({
  group: 'await',
  name: '1 000 waiters, after the ack, last',
  value: percentile(last, 0.5),
  unit: 'ms',
  goal: { atMost: 150 },
})

report({
  group: 'await',
  name: '1 000 waiters, from first to last: processor time of the service',
  value: percentile(processor, 0.5),
  unit: 'ms',
})

/** @returns time of the answer. It uses bare sockets: a thousand of them cost less than what they measure. */
async function wait(text: string): Promise<number> {
  const { hostname, port } = new URL(service.baseUrl)
  const path = `/api/v1/endpoints/${id}/requests/await?timeoutSeconds=60&q=${text}`
  const answered = Promise.withResolvers<number>()
  let received = ''
  await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      open(socket) {
        socket.write(
          `GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${service.key}\r\n\r\n`,
        )
      },
      data(socket, chunk) {
        received += chunk.toString('latin1')
        if (!isWholeAnswer(received)) return
        if (received.startsWith('HTTP/1.1 200')) answered.resolve(performance.now())
        else answered.reject(new Error(`An await answered ${received.slice(0, 100)}`))
        socket.end()
      },
      close: () => answered.reject(new Error('An await was cut off.')),
      error: (_socket, error) => answered.reject(error),
    },
  })
  return await answered.promise
}

async function capture(text: string): Promise<number> {
  const response = await fetch(url, { method: 'POST', body: text })
  await response.arrayBuffer()
  return performance.now()
}

/** Resolves when `count` awaits wait, by the service's metrics. */
async function settled(count: number): Promise<void> {
  for (;;) {
    const metrics = await (await fetch(`${service.baseUrl}/metrics`)).text()
    const waiting = Number(/^creel_awaits_waiting (\d+)$/m.exec(metrics)?.[1] ?? Number.NaN)
    if (Number.isNaN(waiting)) throw new Error('The service does not say how many awaits wait.')
    if (waiting >= count) return
    await Bun.sleep(LOOK_MS)
  }
}
