/**
 * `bun bench/listen.ts [seconds]`: `creel listen` of the executable: the time until its first line, the time from a
 * capture to the local server, and whether it keeps up with 1,000 captures a second. This process is both sender and
 * local server.
 */
import { existsSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { processorMilliseconds } from './support/creelProcess.ts'
import { percentile, report } from './support/report.ts'
import { startBenchService } from './support/workspace.ts'

const seconds = Number(process.argv[2] ?? 10)
const STARTS = 10
const STEADY = { perSecond: 20, concurrency: 1 } as const
const FAST = { perSecond: 1_000, concurrency: 16 } as const
const BODY = JSON.stringify({ type: 'bench', data: 'x'.repeat(980) })
const ROOT = join(import.meta.dir, '..')
const EXECUTABLE = process.env.CREEL_EXECUTABLE ?? join(ROOT, 'dist/creel')
/** A listener that is done within this time after the last capture has kept up. */
const DRAIN_MILLISECONDS_MAX = 1_000

if (!existsSync(EXECUTABLE)) {
  const built = Bun.spawnSync([process.execPath, join(ROOT, 'scripts/build.ts')], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (!built.success) throw new Error('The executable could not be built.')
}

const group = 'listen'
/** Start of each capture by its number; deleted when it arrives. */
const begun = new Map<string, number>()
const delays: number[] = []
const local = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    const number = request.headers.get('x-number') ?? ''
    const at = begun.get(number)
    if (at !== undefined) delays.push(performance.now() - at)
    begun.delete(number)
    return new Response('ok')
  },
})
const agent = new Agent({ keepAlive: true, maxSockets: 64 })

await using service = await startBenchService()
const home = service.folder.dataDir
const env = { HOME: home, CREEL_URL: service.baseUrl, CREEL_KEY: service.key }

const { id: started } = await service.endpoint({ name: 'started' })
const firstLines: number[] = []
const firstLineCosts: number[] = []
for (let start = 0; start < STARTS; start += 1) {
  const at = performance.now()
  const listener = listen(started, 1)
  await listener.firstLine
  firstLines.push(performance.now() - at)
  firstLineCosts.push(await processorMilliseconds(listener.pid))
  await listener.stop()
}
report({
  group,
  name: 'start of the executable to its first line, p50',
  value: percentile(firstLines, 0.5),
  unit: 'ms',
  goal: { atMost: 300 },
})

report({
  group,
  name: 'processor time until then, p50',
  value: percentile(firstLineCosts, 0.5),
  unit: 'ms',
})

await measured(STEADY.concurrency, STEADY.perSecond)
report({
  group,
  name: `capture to local server at ${STEADY.perSecond} captures/s, p50`,
  value: percentile(delays, 0.5),
  unit: 'ms',
  goal: { atMost: 15 },
})
report({
  group,
  name: `capture to local server at ${STEADY.perSecond} captures/s, p99`,
  value: percentile(delays, 0.99),
  unit: 'ms',
})

const fast = await measured(FAST.concurrency, FAST.perSecond)
const load = `${FAST.perSecond.toLocaleString('en')} captures/s, --concurrency ${FAST.concurrency}`
report({ group, name: `${load}: captured`, value: fast.perSecond, unit: '/s' })
report({ group, name: `${load}: capture to local server, p50`, value: percentile(delays, 0.5), unit: 'ms' })
report({
  group,
  name: `${load}: processor time of a capture in the listener`,
  value: fast.costMicros,
  unit: 'µs',
})
report({
  group,
  name: `${load}: from the last capture until all have arrived`,
  value: fast.drainMs,
  unit: 'ms',
  goal: { atMost: DRAIN_MILLISECONDS_MAX },
})

agent.destroy()
await local.stop(true)

interface Run {
  readonly perSecond: number
  readonly drainMs: number
  /** Processor time of the listener for each capture. */
  readonly costMicros: number
}

/** Sends `perSecond` captures a second while a listener follows, and waits until all have arrived. */
async function measured(concurrency: number, perSecond: number): Promise<Run> {
  const { id, url } = await service.endpoint()
  const listener = listen(id, concurrency)
  await listener.connected
  // Warm-up for a second: the first sends are interpreted.
  await paced(url, perSecond, 1)
  await arrived()
  delays.length = 0
  const spentBefore = await processorMilliseconds(listener.pid)
  const at = performance.now()
  const count = await paced(url, perSecond, seconds)
  const sentMs = performance.now() - at
  const endedAt = performance.now()
  await arrived()
  const drainMs = performance.now() - endedAt
  const costMicros = (((await processorMilliseconds(listener.pid)) - spentBefore) * 1000) / count
  await listener.stop()
  return { perSecond: (count / sentMs) * 1000, drainMs, costMicros }
}

/** @returns how many were captured, once all were acknowledged */
async function paced(url: string, perSecond: number, forSeconds: number): Promise<number> {
  const count = perSecond * forSeconds
  const from = performance.now()
  const acknowledged: Promise<void>[] = []
  while (acknowledged.length < count) {
    const due = Math.min(count, ((performance.now() - from) / 1000) * perSecond + 1)
    while (acknowledged.length < due) acknowledged.push(capture(url))
    await sleep(Math.min(5, 1000 / perSecond))
  }
  await Promise.all(acknowledged)
  return count
}

function capture(url: string): Promise<void> {
  const number = crypto.randomUUID()
  begun.set(number, performance.now())
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/json', 'Content-Length': BODY.length, 'X-Number': number }
    httpRequest(url, { method: 'POST', agent, headers }, (response) => {
      response.resume().on('end', resolve)
      if (response.statusCode !== 200) reject(new Error(`A capture answered ${response.statusCode}.`))
    })
      .on('error', reject)
      .end(BODY)
  })
}

async function arrived(): Promise<void> {
  while (begun.size > 0) await sleep(1)
}

function listen(endpoint: string, concurrency: number) {
  const words = ['listen', endpoint, '--to', String(local.port), '--concurrency', String(concurrency)]
  const child = Bun.spawn([EXECUTABLE, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const lines = { out: Promise.withResolvers<void>(), err: Promise.withResolvers<void>() }
  const read = async (stream: ReadableStream<Uint8Array>, seen: (text: string) => void) => {
    const decoder = new TextDecoder()
    for await (const chunk of stream) seen(decoder.decode(chunk))
  }
  void read(child.stdout, (text) => text.includes('\n') && lines.out.resolve())
  void read(child.stderr, (text) => text.includes('connected') && lines.err.resolve())
  return {
    pid: child.pid,
    firstLine: lines.out.promise,
    connected: lines.err.promise,
    async stop() {
      child.kill('SIGTERM')
      await child.exited
    },
  }
}
