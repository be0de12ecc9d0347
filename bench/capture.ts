/**
 * `bun run bench:capture [--rounds 7] [--seconds 1] [--connections 1,64,256] [--peer name=url]…`: durable captures
 * against a bare echo, in bursts that take turns, so that other work on the machine affects all of them. Each burst
 * measures the rate, the latency, and the processor time of gateway and PostgreSQL. The report has the median rate and
 * latency, the median of the ratios within a round, and the lower quartile of the processor time, which other work on
 * the machine can only raise.
 *
 * Captures of the endpoint with room are also compared with the floor: rows like theirs by `COPY`, as many and in batches
 * of the same size, in the same turns.
 *
 * A peer is any URL that takes a POST. It gets the same requests, in the same turns.
 *
 * Ends with an error when a stored request is missing or too many: stored plus evicted must equal acknowledged.
 */
import { parseArgs } from 'node:util'
import { findEmbeddedPostgres } from '@creel/program'
import { BODY, CAP, captureVariants, everStored, HEADERS, type Variant } from './support/captureVariants.ts'
import { type CopyFloor, openCopyFloor } from './support/copyFloor.ts'
import { cpuMicroseconds, postgresMicroseconds, postmasterOf } from './support/cpuTime.ts'
import { residentMegabytes, startCreel } from './support/creelProcess.ts'
import { startEcho } from './support/echo.ts'
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
  'below cap, 64 connections, gateway and PostgreSQL': { atMost: 40 },
  // These goals apply to a machine of any speed.
  'below cap, 64 connections, gateway against the echo': { atMost: 2.5 },
  'below cap, 64 connections, PostgreSQL against the floor': { atMost: 1.25 },
  'below cap, 64 connections': { atLeast: 10_000 },
  'below cap, 64 connections, p99': { atMost: 8 },
  'below cap, 1 connection, p50': { atMost: 0.7 },
}

/** One burst: its load, and the processor time a capture. */
interface Burst extends LoadResult {
  readonly gatewayUs: number
  readonly postgresUs: number
  /** Processor time of PostgreSQL for a row of the floor; 0 where it was not measured. */
  readonly floorUs: number
}

await using folder = await openBenchFolder({ pro: { storedRequestsMax: CAP } })
const echo = await startEcho()

try {
  const service = await startCreel(folder.env)
  const variants = await captureVariants(service.baseUrl, folder.env)
  const url = (await findEmbeddedPostgres(folder.dataDir)) ?? ''
  const postmaster = await postmasterOf(url)
  // For the first ten thousand captures or so, compiling the hot path takes more processor time than the captures.
  for (const variant of variants)
    await load({ ...order(variant.url, 64), seconds: 0, warmupSeconds: WARM_SECONDS })
  {
    // Closed before the service.
    await using floor = await openCopyFloor(url, variants[0]?.id ?? '')
    for (const connections of values.connections.split(',').map(Number)) {
      await measure(connections, variants, {
        service: service.pid,
        postmaster,
        floor,
        metrics: `${service.baseUrl}/metrics`,
      })
    }
  }
  const loaded = await residentMegabytes(service.pid)
  report({ group: 'capture', name: 'resident memory after the load', value: loaded, unit: 'MB' })
  console.log('stored = acknowledged in every burst')
  await service.stop()
} finally {
  echo.stop()
}

interface Pids {
  readonly service: number
  /** Undefined for a process that uses none. */
  readonly postmaster?: number
}

/** The parts of a running service that are measured. */
interface Measured extends Pids {
  readonly floor: CopyFloor
  /** URL of its metrics. */
  readonly metrics: string
}

async function measure(connections: number, variants: readonly Variant[], measured: Measured): Promise<void> {
  const bursts = new Map<string, Burst[]>()
  const ratios = new Map<string, number[]>()
  const add = <Value>(to: Map<string, Value[]>, name: string, value: Value) =>
    to.set(name, [...(to.get(name) ?? []), value])
  for (let round = 0; round < Number(values.rounds); round += 1) {
    const bare = await burstOn(echo.url, connections, { service: echo.pid })
    add(bursts, 'bare echo', bare)
    for (const variant of variants) {
      const storedBefore = await everStored(variant)
      const batchesBefore = await batchesOf(measured.metrics)
      const burst = await burstOn(variant.url, connections, measured)
      const batches = (await batchesOf(measured.metrics)) - batchesBefore
      const stored = (await everStored(variant)) - storedBefore
      if (stored !== burst.acknowledged || burst.refused > 0) {
        throw new Error(`${burst.acknowledged} acknowledged, ${burst.refused} refused, but ${stored} stored`)
      }
      const rows = Math.max(1, Math.round(burst.acknowledged / batches))
      const floorUs = variant === variants[0] ? await measured.floor.copy(burst.acknowledged, rows) : 0
      add(bursts, variant.name, { ...burst, floorUs })
      add(ratios, variant.name, burst.perSecond / bare.perSecond)
    }
    for (const { name, url } of peers) {
      const result = await load(order(url, connections))
      add(bursts, name, { ...result, gatewayUs: 0, postgresUs: 0, floorUs: 0 })
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
    say(', gateway against the echo', ofService / ofEcho, '×')
    const ofFloor = of(({ floorUs }) => floorUs, 0.25)
    if (ofFloor === 0) continue
    const ofPostgres = of(({ postgresUs }) => postgresUs, 0.25)
    say(', PostgreSQL', ofPostgres, 'µs')
    say(', the floor', ofFloor, 'µs')
    say(', PostgreSQL against the floor', ofPostgres / ofFloor, '×')
  }
}

/** Runs one burst. The service's processor time includes that of its jobs, which are idle meanwhile. */
async function burstOn(url: string, connections: number, { service, postmaster }: Pids): Promise<Burst> {
  const ofPostgres = async () => (postmaster === undefined ? 0 : await postgresMicroseconds(postmaster))
  const [gatewayBefore, postgresBefore] = [await cpuMicroseconds([service]), await ofPostgres()]
  const result = await load(order(url, connections))
  const gateway = (await cpuMicroseconds([service])) - gatewayBefore
  const database = (await ofPostgres()) - postgresBefore
  return {
    ...result,
    gatewayUs: gateway / result.acknowledged,
    postgresUs: database / result.acknowledged,
    floorUs: 0,
  }
}

/** Number of batches in which captures were stored so far. */
async function batchesOf(url: string): Promise<number> {
  const metrics = await (await fetch(url)).text()
  return Number(/^creel_capture_batch_size_count (\d+)/m.exec(metrics)?.[1] ?? Number.NaN)
}

function order(url: string, connections: number) {
  return { url, connections, seconds, warmupSeconds: WARMUP_SECONDS, body: BODY, headers: HEADERS }
}
