/**
 * `bun run bench:capture [--rounds 7] [--seconds 1] [--connections 1,64,256] [--peer name=url]…`: durable captures
 * against a bare echo, in bursts that take turns, so that other work on the machine affects all of them. Each burst
 * measures the rate, the latency, and the processor time of gateway and PostgreSQL. The report has the median rate and
 * latency, the median of the ratios within a round, and the lower quartile of the processor time, which other work on
 * the machine can only raise.
 *
 * A peer is any URL that takes a POST. It gets the same requests, in the same turns.
 *
 * Ends with an error when a stored request is missing or too many: stored plus evicted must equal acknowledged.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findEmbeddedPostgres } from '@creel/program'
import { BODY, CAP, captureVariants, everStored, HEADERS, type Variant } from './support/captureVariants.ts'
import { cpuMicroseconds, postgresProcesses } from './support/cpuTime.ts'
import { residentMegabytes, startCreel } from './support/creelProcess.ts'
import { type LoadResult, load } from './support/load.ts'
import { percentile, report } from './support/report.ts'
import { openBenchFolder } from './support/workspace.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '1' },
    connections: { type: 'string', default: '1,64,256' },
    peer: { type: 'string', multiple: true, default: [] },
  },
})
const seconds = Number(values.seconds)
const peers = values.peer.map((text) => {
  const at = text.indexOf('=')
  return { name: text.slice(0, at), url: text.slice(at + 1) }
})
const WARMUP_SECONDS = 0.3
const WARM_SECONDS = 5

type Goal = { readonly atLeast: number } | { readonly atMost: number }
/** Goals by variant, number of connections and figure. */
const GOALS: Readonly<Record<string, Goal>> = {
  'below cap, 64 connections, against the echo': { atLeast: 0.5 },
  'at cap, 64 connections, against the echo': { atLeast: 0.42 },
  'all features, 64 connections, against the echo': { atLeast: 0.35 },
  'below cap, 256 connections, against the echo': { atLeast: 0.6 },
  'at cap, 256 connections, against the echo': { atLeast: 0.5 },
  'all features, 256 connections, against the echo': { atLeast: 0.45 },
  'below cap, 64 connections, gateway and PostgreSQL': { atMost: 45 },
  // This goal applies to a machine of any speed. It was set where the echo took 12 µs.
  'below cap, 64 connections, gateway and PostgreSQL, against the echo': { atMost: 4.2 },
  'below cap, 64 connections': { atLeast: 10_000 },
  'below cap, 64 connections, p99': { atMost: 8 },
  'below cap, 1 connection, p50': { atMost: 0.7 },
}

/** One burst: its load, and the processor time a capture. */
interface Burst extends LoadResult {
  readonly gatewayUs: number
  readonly postgresUs: number
}

await using folder = await openBenchFolder({ pro: { storedRequestsMax: CAP } })
const echo = Bun.spawn([process.execPath, join(import.meta.dir, 'support/echoServer.ts')], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
const echoUrl = `http://127.0.0.1:${await firstLine(echo.stdout)}/hook`

try {
  const service = await startCreel(folder.env)
  const variants = await captureVariants(service.baseUrl, folder.env)
  const postgres = await postgresProcesses((await findEmbeddedPostgres(folder.dataDir)) ?? '')
  // For the first ten thousand captures or so, compiling the hot path takes more processor time than the captures.
  for (const { url } of variants) await load({ ...order(url, 64), seconds: 0, warmupSeconds: WARM_SECONDS })
  for (const connections of values.connections.split(',').map(Number)) {
    await measure(connections, variants, { service: service.pid, postgres })
  }
  const loaded = await residentMegabytes(service.pid)
  report({ group: 'capture', name: 'resident memory after the load', value: loaded, unit: 'MB' })
  console.log('stored = acknowledged in every burst')
  await service.stop()
} finally {
  echo.kill()
}

interface Pids {
  readonly service: number
  readonly postgres: readonly number[]
}

async function measure(connections: number, variants: readonly Variant[], pids: Pids): Promise<void> {
  const bursts = new Map<string, Burst[]>()
  const ratios = new Map<string, number[]>()
  const add = <Value>(to: Map<string, Value[]>, name: string, value: Value) =>
    to.set(name, [...(to.get(name) ?? []), value])
  for (let round = 0; round < Number(values.rounds); round += 1) {
    const bare = await burstOn(echoUrl, connections, { service: echo.pid, postgres: [] })
    add(bursts, 'bare echo', bare)
    for (const variant of variants) {
      const storedBefore = await everStored(variant)
      const burst = await burstOn(variant.url, connections, pids)
      const stored = (await everStored(variant)) - storedBefore
      if (stored !== burst.acknowledged || burst.refused > 0) {
        throw new Error(`${burst.acknowledged} acknowledged, ${burst.refused} refused, but ${stored} stored`)
      }
      add(bursts, variant.name, burst)
      add(ratios, variant.name, burst.perSecond / bare.perSecond)
    }
    for (const { name, url } of peers) {
      const result = await load(order(url, connections))
      add(bursts, name, { ...result, gatewayUs: 0, postgresUs: 0 })
      add(ratios, name, result.perSecond / bare.perSecond)
    }
  }
  for (const [name, taken] of bursts) {
    const where = `${name}, ${connections} ${connections === 1 ? 'connection' : 'connections'}`
    const say = (figure: string, value: number, unit: string) => {
      const goal = GOALS[`${where}${figure}`]
      report({
        group: 'capture',
        name: `${where}${figure}`,
        value,
        unit,
        ...(goal === undefined ? {} : { goal }),
      })
    }
    const of = (read: (burst: Burst) => number, share: number) => percentile(taken.map(read), share)
    say(
      '',
      of(({ perSecond }) => perSecond, 0.5),
      '/s',
    )
    const ratio = ratios.get(name)
    if (ratio !== undefined) say(', against the echo', percentile(ratio, 0.5), '×')
    say(
      ', p50',
      of(({ p50Ms }) => p50Ms, 0.5),
      'ms',
    )
    say(
      ', p99',
      of(({ p99Ms }) => p99Ms, 0.5),
      'ms',
    )
    const ofService = of(({ gatewayUs }) => gatewayUs, 0.25)
    if (name === 'bare echo') say(', processor time', ofService, 'µs')
    if (!variants.some((variant) => variant.name === name)) continue
    const ofBoth = of((burst) => burst.gatewayUs + burst.postgresUs, 0.25)
    const ofEcho = percentile(
      (bursts.get('bare echo') ?? []).map(({ gatewayUs }) => gatewayUs),
      0.25,
    )
    say(', gateway', ofService, 'µs')
    say(', gateway and PostgreSQL', ofBoth, 'µs')
    say(', gateway and PostgreSQL, against the echo', ofBoth / ofEcho, '×')
  }
}

/** Runs one burst. The service's processor time includes that of its jobs, which are idle meanwhile. */
async function burstOn(url: string, connections: number, { service, postgres }: Pids): Promise<Burst> {
  const [gatewayBefore, postgresBefore] = [await cpuMicroseconds([service]), await cpuMicroseconds(postgres)]
  const result = await load(order(url, connections))
  const gateway = (await cpuMicroseconds([service])) - gatewayBefore
  const database = (await cpuMicroseconds(postgres)) - postgresBefore
  return {
    ...result,
    gatewayUs: gateway / result.acknowledged,
    postgresUs: database / result.acknowledged,
  }
}

function order(url: string, connections: number) {
  return { url, connections, seconds, warmupSeconds: WARMUP_SECONDS, body: BODY, headers: HEADERS }
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  for await (const chunk of stream) return new TextDecoder().decode(chunk).trim()
  throw new Error('The echo server said nothing.')
}
