/**
 * `bun bench/gateways.ts [seconds] [rounds]`: one gateway process against two on the same PostgreSQL, with captures of
 * 1 KB and the same number of connections to each gateway. The two are programs of their own, or one program with
 * `--gateways 2`, where the system decides which process gets a connection. With one connection a gateway mostly waits for the disk, and
 * a second one finds idle cores. With many, load, gateways and PostgreSQL share the machine, and a second one finds
 * none. So each rate is reported with the idle share of the processors.
 *
 * All gateways are warm, and the cases take turns, so that other work on the machine affects all of them.
 */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findEmbeddedPostgres } from '@creel/program'
import { processorTimes } from './support/cpuTime.ts'
import { startCreel } from './support/creelProcess.ts'
import { load } from './support/load.ts'
import { percentile, report } from './support/report.ts'
import { startBenchService } from './support/workspace.ts'

const seconds = Number(process.argv[2] ?? 2)
const rounds = Number(process.argv[3] ?? 5)
const BODY = JSON.stringify({ type: 'scale', data: 'x'.repeat(990) })
const WARM_SECONDS = 5
/** Connections to each gateway. */
const CONNECTIONS = [1, 32] as const
/** Goal for the fewest connections, where cores are idle. */
const GOAL = { atLeast: 1.4 }

await using service = await startBenchService()
const dataDir = service.env.CREEL_DATA_DIR ?? ''
const beside = {
  ...service.env,
  DATABASE_URL: (await findEmbeddedPostgres(dataDir)) ?? '',
  CREEL_SECRET_KEY: (await readFile(join(dataDir, 'secret.key'), 'utf8')).trim(),
}
const second = await startCreel(beside, ['--only', 'gateway'])
const program = await startCreel(beside, ['--only', 'gateway', '--gateways', '2'])
const shared = await service.endpoint()
const own = await service.endpoint()

/**
 * A burst through gateways, each on an endpoint: captures a second in all, and the share of the processors that was
 * idle.
 */
async function burst(
  targets: readonly (readonly [baseUrl: string, endpointId: string])[],
  connections: number,
) {
  const before = processorTimes()
  const results = await Promise.all(
    targets.map(([baseUrl, id]) =>
      load({ url: `${baseUrl}/hook/${id}`, connections, seconds, warmupSeconds: 0.3, body: BODY }),
    ),
  )
  const after = processorTimes()
  const perSecond = results.reduce((sum, result) => sum + result.perSecond, 0)
  return { perSecond, idle: (after.idle - before.idle) / (after.all - before.all) }
}

const WAYS = {
  'through one gateway': [[service.baseUrl, shared.id]],
  'through two, an endpoint each': [
    [service.baseUrl, shared.id],
    [second.baseUrl, own.id],
  ],
  'through two, of one endpoint': [
    [service.baseUrl, shared.id],
    [second.baseUrl, shared.id],
  ],
  'through one program of two, two endpoints': [
    [program.baseUrl, shared.id],
    [program.baseUrl, own.id],
  ],
} as const

const warming = { connections: 32, seconds: 0, warmupSeconds: WARM_SECONDS, body: BODY }
await load({ ...warming, url: `${service.baseUrl}/hook/${shared.id}` })
await load({ ...warming, url: `${second.baseUrl}/hook/${own.id}` })
await load({ ...warming, url: `${program.baseUrl}/hook/${own.id}` })

for (const connections of CONNECTIONS) {
  const taken = new Map<string, Awaited<ReturnType<typeof burst>>[]>()
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, targets] of Object.entries(WAYS)) {
      taken.set(name, [...(taken.get(name) ?? []), await burst(targets, connections)])
    }
  }
  const where = `${connections} ${connections === 1 ? 'connection' : 'connections'} each`
  const one = taken.get('through one gateway') ?? []
  for (const [name, bursts] of taken) {
    const rate = percentile(
      bursts.map(({ perSecond }) => perSecond),
      0.5,
    )
    const idle = percentile(
      bursts.map((each) => each.idle),
      0.5,
    )
    report({ group: 'gateways', name: `captures/s ${name}, ${where}`, value: rate, unit: '/s' })
    report({ group: 'gateways', name: `processors idle, ${name}, ${where}`, value: idle * 100, unit: '%' })
    if (bursts === one) continue
    const ratios = bursts.map(({ perSecond }, round) => perSecond / (one[round]?.perSecond ?? perSecond))
    const isGoal = name.endsWith('an endpoint each') && connections === CONNECTIONS[0]
    report({
      group: 'gateways',
      name: `${name} against one, ${where}`,
      value: percentile(ratios, 0.5),
      unit: '×',
      ...(isGoal ? { goal: GOAL } : {}),
    })
  }
}
await Promise.all([second.stop(), program.stop()])
