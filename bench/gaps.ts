/**
 * `bun bench/gaps.ts [--seconds 15] [--connections 64,256]`: the longest waits of captures on a new installation, whose WAL has never been
 * recycled. Reported are p99, p99.9, the longest time in which no capture was answered, and how many such times were over 20 ms.
 */
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
  const { p99Ms, p999Ms, longestGapMs, gaps, perSecond } = await load({
    url: belowCap.url,
    connections: Number(connections),
    seconds: Number(values.seconds),
    warmupSeconds: WARMUP_SECONDS,
    body: BODY,
    headers: HEADERS,
  })
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
}
await service.stop()
