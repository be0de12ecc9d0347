/**
 * `bun bench/cells.ts [--rounds 15] [--seconds 2] [--connections 16]`: captures of three endpoints through a gateway with one database;
 * through a gateway of three cells, all in one cell; and one in each cell. The bursts take turns. All databases are of one PostgreSQL
 * server. So the second differs from the first by the routing only, and the third also by its batches, which each cell commits for
 * itself. Reported are the processor times of a capture in gateway and PostgreSQL, of which the lower quartile is least affected by
 * other work on the machine, and the ratios of these quartiles.
 */
import { parseArgs } from 'node:util'
import { findEmbeddedPostgres } from '@creel/program'
import { BODY, HEADERS } from './support/captureVariants.ts'
import { prepareCells } from './support/cells.ts'
import { cpuMicroseconds, postgresMicroseconds, postmasterOf } from './support/cpuTime.ts'
import { type CreelProcess, startCreel } from './support/creelProcess.ts'
import { load } from './support/load.ts'
import { percentile, report } from './support/report.ts'
import { openBenchFolder, openWorkspace } from './support/workspace.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '15' },
    seconds: { type: 'string', default: '2' },
    connections: { type: 'string', default: '16' },
  },
})
const CELLS = ['cell-1', 'cell-2', 'cell-3']
const WARMUP_SECONDS = 0.3
const WARM_SECONDS = 5
const GOAL = 1.05

await using folder = await openBenchFolder()
const single = await startCreel(folder.env)
const databaseUrl = (await findEmbeddedPostgres(folder.dataDir)) ?? ''
const envOfCells = await prepareCells(folder, databaseUrl, CELLS)
const postmaster = await postmasterOf(databaseUrl)
const program = await startCreel(envOfCells)

/** A gateway, with the capture URLs of three endpoints. */
interface Way {
  readonly name: string
  readonly gateway: CreelProcess
  readonly urls: readonly string[]
}

/** Capture URLs of endpoints of a new workspace, in a cell if the environment names one. */
async function endpointsOf(
  { baseUrl }: CreelProcess,
  env: Readonly<Record<string, string>>,
  count: number,
): Promise<readonly string[]> {
  const workspace = await openWorkspace(baseUrl, env, 'team')
  const endpoints = await Promise.all(Array.from({ length: count }, () => workspace.endpoint()))
  return endpoints.map(({ url }) => url)
}

const inCell = (name: string) => ({ ...envOfCells, CREEL_CELL: name })
const WAYS = {
  one: {
    name: 'one database',
    gateway: single,
    urls: await endpointsOf(single, folder.env, CELLS.length),
  },
  routed: {
    name: 'one of three cells',
    gateway: program,
    urls: await endpointsOf(program, inCell('cell-1'), CELLS.length),
  },
  spread: {
    name: 'three cells',
    gateway: program,
    urls: (await Promise.all(CELLS.map((name) => endpointsOf(program, inCell(name), 1)))).flat(),
  },
} as const satisfies Readonly<Record<string, Way>>
const NAMES = ['one', 'routed', 'spread'] as const

/** Processor time of a capture, in microseconds. */
interface Burst {
  readonly gateway: number
  readonly postgres: number
}

async function burst({ gateway, urls }: Way, seconds: number, warmupSeconds: number): Promise<Burst> {
  const gatewayBefore = await cpuMicroseconds([gateway.pid])
  const before = await postgresMicroseconds(postmaster)
  const results = await Promise.all(
    urls.map((url) =>
      load({
        url,
        connections: Number(values.connections),
        seconds,
        warmupSeconds,
        body: BODY,
        headers: HEADERS,
      }),
    ),
  )
  const gatewayTime = (await cpuMicroseconds([gateway.pid])) - gatewayBefore
  const postgresTime = (await postgresMicroseconds(postmaster)) - before
  const captures = results.reduce((sum, { acknowledged }) => sum + acknowledged, 0)
  const refused = results.reduce((sum, result) => sum + result.refused, 0)
  if (refused > 0) throw new Error(`${refused} were refused`)
  return { gateway: gatewayTime / captures, postgres: postgresTime / captures }
}

for (const name of NAMES) await burst(WAYS[name], 0, WARM_SECONDS)
const bursts: Record<(typeof NAMES)[number], Burst[]> = { one: [], routed: [], spread: [] }
for (let round = 0; round < Number(values.rounds); round += 1) {
  for (const [at] of NAMES.entries()) {
    // Each takes its turn as the first.
    const name = NAMES[(at + round) % NAMES.length] ?? 'one'
    bursts[name].push(await burst(WAYS[name], Number(values.seconds), WARMUP_SECONDS))
  }
}

const FIGURES = {
  gateway: ({ gateway }: Burst) => gateway,
  PostgreSQL: ({ postgres }: Burst) => postgres,
  'gateway and PostgreSQL': ({ gateway, postgres }: Burst) => gateway + postgres,
}
const where = `${values.connections} connections to each endpoint`
for (const [part, figure] of Object.entries(FIGURES)) {
  for (const name of NAMES) {
    report({
      group: 'cells',
      name: `${part}, a capture, ${WAYS[name].name}, ${where}`,
      value: percentile(bursts[name].map(figure), 0.25),
      unit: 'µs',
    })
  }
  const ofOne = percentile(bursts.one.map(figure), 0.25)
  for (const name of ['routed', 'spread'] as const) {
    report({
      group: 'cells',
      name: `${part}, ${WAYS[name].name} against one database, ${where}`,
      value: percentile(bursts[name].map(figure), 0.25) / ofOne,
      unit: '×',
      ...(name === 'routed' ? { goal: { atMost: GOAL } } : {}),
    })
  }
}
await program.stop()
await single.stop()
