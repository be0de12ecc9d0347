/**
 * `bun bench/firstSecond.ts [--starts 3] [--connections 64]`: processor time of the gateway for a capture in a process that has
 * just started, against the same process later. Cold are the first 10,000 captures, warm are 20,000 after 100,000. The
 * processor time holds all threads, also those that compile.
 */
import { parseArgs } from 'node:util'
import { BODY, captureVariants, HEADERS } from './support/captureVariants.ts'
import { sendCounted } from './support/countedLoad.ts'
import { cpuMicroseconds } from './support/cpuTime.ts'
import { startCreel } from './support/creelProcess.ts'
import { percentile, report } from './support/report.ts'
import { openBenchFolder } from './support/workspace.ts'

const { values } = parseArgs({
  options: { starts: { type: 'string', default: '3' }, connections: { type: 'string', default: '64' } },
})
const connections = Number(values.connections)
const COLD = 10_000
const BETWEEN = 90_000
const WARM = 20_000

await using folder = await openBenchFolder()
const first = await startCreel(folder.env)
const [belowCap] = await captureVariants(first.baseUrl, folder.env)
await first.stop()
if (belowCap === undefined) throw new Error('There is no endpoint to measure on.')

const taken: { readonly cold: number; readonly warm: number }[] = []
for (let start = 0; start < Number(values.starts); start += 1) {
  const service = await startCreel(folder.env)
  const url = `${service.baseUrl}${new URL(belowCap.url).pathname}`
  const cost = async (count: number) => {
    const before = await cpuMicroseconds([service.pid])
    await sendCounted({ url, count, connections, body: BODY, headers: HEADERS })
    return ((await cpuMicroseconds([service.pid])) - before) / count
  }
  const cold = await cost(COLD)
  await cost(BETWEEN)
  taken.push({ cold, warm: await cost(WARM) })
  await service.stop()
}
const say = (
  name: string,
  read: (one: { cold: number; warm: number }) => number,
  unit: string,
  atMost?: number,
) =>
  report({
    group: 'first second',
    name,
    value: percentile(taken.map(read), 0.5),
    unit,
    ...(atMost === undefined ? {} : { goal: { atMost } }),
  })
say('gateway, first 10,000 captures of a process', ({ cold }) => cold, 'µs')
say('gateway, after 100,000', ({ warm }) => warm, 'µs')
say('first captures against later ones', ({ cold, warm }) => cold / warm, '×', 1.5)
