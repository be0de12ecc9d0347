/**
 * `bun bench/gaps.ts [--seconds 60] [--connections 64,256]`: the longest waits of captures on a new installation, whose WAL has never been
 * recycled, with those of a bare echo beside them. Reported are p50, p99, p99.9, the longest time in which no capture was answered, how many
 * such times were over 20 ms, the segments of the WAL that sessions had to make, while all others waited, and the share of the
 * processors that the host of a virtual machine took for others: each time it does, captures wait.
 */
import { parseArgs } from 'node:util'
import { findEmbeddedPostgres } from '@creel/program'
import { Client } from 'pg'
import { BODY, captureVariants, HEADERS } from './support/captureVariants.ts'
import { processorTimes } from './support/cpuTime.ts'
import { startCreel } from './support/creelProcess.ts'
import { startEcho } from './support/echo.ts'
import { load } from './support/load.ts'
import { report } from './support/report.ts'
import { openBenchFolder } from './support/workspace.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    connections: { type: 'string', default: '64,256' },
  },
})
const WARMUP_SECONDS = 5
/** `p99`: as a multiple of p50. `p999`: in milliseconds. */
const GOALS: Readonly<Record<string, { readonly p99: number; readonly p999: number }>> = {
  64: { p99: 4, p999: 15 },
  256: { p99: 4, p999: 60 },
}
/** The echo needs no flood: it has neither disk nor log. */
const ECHO_SECONDS = 5
/** PostgreSQL's sessions report their statistics about once a second, and when they have been idle for ten. */
const REPORT_MS = 11_000
const SEGMENT_BYTES = 16 * 1024 * 1024

await using folder = await openBenchFolder({})
const service = await startCreel(folder.env)
const echo = await startEcho()
const database = new Client({ connectionString: await findEmbeddedPostgres(folder.dataDir) })
await database.connect()
const [belowCap] = await captureVariants(service.baseUrl, folder.env)
if (belowCap === undefined) throw new Error('There is no endpoint to measure on.')
for (const connections of values.connections.split(',')) {
  const order = {
    connections: Number(connections),
    warmupSeconds: WARMUP_SECONDS,
    body: BODY,
    headers: HEADERS,
  }
  const bare = await load({ ...order, url: echo.url, seconds: ECHO_SECONDS })
  const segmentsBefore = await segmentsBySessions()
  const processorsBefore = processorTimes()
  const { p50Ms, p99Ms, p999Ms, longestGapMs, gaps, perSecond } = await load({
    ...order,
    url: belowCap.url,
    seconds: Number(values.seconds),
  })
  const processors = processorTimes()
  const segments = (await segmentsBySessions()) - segmentsBefore
  const stolen = processors.stolen - processorsBefore.stolen
  const stolenShare = stolen / (processors.all - processorsBefore.all + stolen)
  const goal = GOALS[connections]
  const say = (figure: string, value: number, unit: string, atMost?: number) =>
    report({
      group: 'gaps',
      name: `${connections} connections${figure}`,
      value,
      unit,
      ...(atMost === undefined ? {} : { goal: { atMost } }),
    })
  say('', perSecond, '/s')
  say(', p50', p50Ms, 'ms')
  say(', p99', p99Ms, 'ms')
  say(', p99 against p50', p99Ms / p50Ms, '×', goal?.p99)
  say(', p99.9', p999Ms, 'ms', goal?.p999)
  say(', longest gap', longestGapMs, 'ms')
  say(', gaps over 20 ms', gaps, '')
  say(', segments made by sessions', segments, '', 0)
  say(', processors taken by the host', stolenShare * 100, '%')
  say(', bare echo, p50', bare.p50Ms, 'ms')
  say(', bare echo, p99', bare.p99Ms, 'ms')
  say(', bare echo, p99.9', bare.p999Ms, 'ms')
}
await database.end()
echo.stop()
await service.stop()

/** Segments of the WAL that sessions have made so far. A session reports within a second of its last capture. */
async function segmentsBySessions(): Promise<number> {
  await Bun.sleep(REPORT_MS)
  const { rows } = await database.query<{ bytes: string }>(
    `select coalesce(sum(write_bytes), 0) as bytes from pg_stat_io
    where object = 'wal' and context = 'init' and backend_type = 'client backend'`,
  )
  return Number(rows[0]?.bytes ?? 0) / SEGMENT_BYTES
}
