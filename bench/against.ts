/**
 * `bun bench/against.ts <checkout> [--rounds 15] [--connections 64]`: captures of this checkout against those of another,
 * such as a worktree of an older commit, on an endpoint with room and without settings. Bursts take turns, and which of
 * the two goes first changes by round, so that other work on the machine affects both. Reported are the medians of the
 * processor time a capture, and of the ratios within a round.
 */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { findEmbeddedPostgres } from '@creel/program'
import { BODY, HEADERS } from './support/captureVariants.ts'
import { cpuMicroseconds, postgresMicroseconds, postmasterOf } from './support/cpuTime.ts'
import { load } from './support/load.ts'
import { percentile, report } from './support/report.ts'
import { startBenchService } from './support/workspace.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '15' },
    connections: { type: 'string', default: '64' },
  },
})
const [other] = positionals
if (other === undefined) throw new Error('Name the folder of another checkout.')
const connections = Number(values.connections)
const WARM_SECONDS = 5

interface Figures {
  readonly gatewayUs: number
  readonly postgresUs: number
  readonly perSecond: number
}

async function start(env: Readonly<Record<string, string>>) {
  const service = await startBenchService(env)
  const { url } = await service.endpoint()
  const postmaster = await postmasterOf((await findEmbeddedPostgres(service.folder.dataDir)) ?? '')
  const burst = async (seconds: number, warmupSeconds: number): Promise<Figures> => {
    const of = async () =>
      [await cpuMicroseconds([service.process.pid]), await postgresMicroseconds(postmaster)] as const
    const [gateway, database] = await of()
    const order = { url, connections, seconds, warmupSeconds, body: BODY, headers: HEADERS }
    const { acknowledged, perSecond } = await load(order)
    const [gatewayAfter, databaseAfter] = await of()
    return {
      gatewayUs: (gatewayAfter - gateway) / acknowledged,
      postgresUs: (databaseAfter - database) / acknowledged,
      perSecond,
    }
  }
  // Compiling the hot path takes more processor time than the first captures.
  await burst(0, WARM_SECONDS)
  return { service, burst, taken: [] as Figures[] }
}

const here = await start({})
const there = await start({ BENCH_ROOT: resolve(other) })
for (let round = 0; round < Number(values.rounds); round += 1) {
  for (const side of round % 2 === 0 ? [here, there] : [there, here])
    side.taken.push(await side.burst(1, 0.3))
}
for (const [figure, unit] of [
  ['gatewayUs', 'µs'],
  ['postgresUs', 'µs'],
  ['perSecond', '/s'],
] as const) {
  const [ofHere, ofThere] = [here, there].map(({ taken }) => taken.map((one) => one[figure]))
  const ratios = (ofHere ?? []).map((value, round) => value / (ofThere?.[round] ?? Number.NaN))
  const name = figure.replace(/Us$/, '')
  report({ group: 'against', name: `${name}, here`, value: percentile(ofHere ?? [], 0.5), unit })
  report({ group: 'against', name: `${name}, there`, value: percentile(ofThere ?? [], 0.5), unit })
  report({ group: 'against', name: `${name}, here against there`, value: percentile(ratios, 0.5), unit: '×' })
}
await here.service[Symbol.asyncDispose]()
await there.service[Symbol.asyncDispose]()
