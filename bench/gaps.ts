/**
 * `bun bench/gaps.ts [--seconds 15] [--connections 64,256]`: the longest waits of captures on a new installation, whose WAL has never been
 * recycled. Reported are p99, p99.9, the longest time in which no capture was answered, how many such times were over 20 ms, and
 * the share of idle processor time meanwhile.
 */
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { BODY, captureVariants, HEADERS } from './support/captureVariants.ts'
import { startCreel } from './support/creelProcess.ts'
import { load } from './support/load.ts'
import { report } from './support/report.ts'
import { openBenchFolder } from './support/workspace.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '15' },
    connections: { type: 'string', default: '64,256' },
  },
})
const WARMUP_SECONDS = 5
const GOALS: Readonly<Record<string, { readonly p99: number; readonly p999: number }>> = {
  64: { p99: 8, p999: 15 },
  256: { p99: 20, p999: 30 },
}

await using folder = await openBenchFolder({})
const service = await startCreel(folder.env)
const [belowCap] = await captureVariants(service.baseUrl, folder.env)
if (belowCap === undefined) throw new Error('There is no endpoint to measure on.')
for (const connections of values.connections.split(',')) {
  const before = processorTimes()
  const { p99Ms, p999Ms, longestGapMs, gaps, perSecond } = await load({
    url: belowCap.url,
    connections: Number(connections),
    seconds: Number(values.seconds),
    warmupSeconds: WARMUP_SECONDS,
    body: BODY,
    headers: HEADERS,
  })
  const after = processorTimes()
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
  say(', p99', p99Ms, 'ms', goal?.p99)
  say(', p99.9', p999Ms, 'ms', goal?.p999)
  say(', longest gap', longestGapMs, 'ms')
  say(', gaps over 20 ms', gaps, '')
  say(', idle processor time', (100 * (after.idle - before.idle)) / (after.all - before.all), '%')
}
await service.stop()

function processorTimes(): { readonly idle: number; readonly all: number } {
  const times = cpus().map((cpu) => cpu.times)
  const idle = times.reduce((sum, one) => sum + one.idle, 0)
  return {
    idle,
    all: times.reduce((sum, one) => sum + one.user + one.nice + one.sys + one.irq + one.idle, 0),
  }
}
