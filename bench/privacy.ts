/**
 * `bun bench/privacy.ts [--rounds 7] [--seconds 1] [--connections 64]`: durable captures of an endpoint with a rule for
 * storing of three steps, and of one with `encryptBodies`, against those of a plain one of the same service, in bursts
 * that take turns. A second plain endpoint shows how far equal endpoints differ. Reported are the medians of the ratios of rates, and the
 * lower quartiles of the processor time of gateway and PostgreSQL for a capture, which other work on the machine can only raise.
 *
 * Ends with an error when a stored request is missing or too many.
 */
import { parseArgs } from 'node:util'
import { findEmbeddedPostgres } from '@creel/program'
import { BODY, everStored, HEADERS } from './support/captureVariants.ts'
import { cpuMicroseconds, postgresMicroseconds, postmasterOf } from './support/cpuTime.ts'
import { startCreel } from './support/creelProcess.ts'
import { load } from './support/load.ts'
import { percentile, report } from './support/report.ts'
import {
  type BenchEndpoint,
  type BenchWorkspace,
  openBenchFolder,
  openWorkspace,
} from './support/workspace.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '1' },
    connections: { type: 'string', default: '64' },
  },
})
const WARMUP_SECONDS = 0.3
const WARM_SECONDS = 5

const STEPS = [
  { op: 'redact', paths: ['body.type'] },
  { op: 'hash', paths: ['body.id'] },
  { op: 'remove', paths: ['headers.X-Bench-Signature'] },
]

interface Variant extends BenchEndpoint {
  readonly name: string
  readonly workspace: BenchWorkspace
}

const GOALS: Readonly<Record<string, { readonly atLeast: number }>> = {
  'a rule of three steps': { atLeast: 0.7 },
  'plain again': { atLeast: 0.95 },
}

await using folder = await openBenchFolder({})
const service = await startCreel(folder.env)

const on = async (name: string, settings: object): Promise<Variant> => {
  const workspace = await openWorkspace(service.baseUrl, folder.env, 'team')
  const endpoint = await workspace.endpoint()
  await workspace.call('PATCH', `/api/v1/endpoints/${endpoint.id}`, settings)
  return { name, workspace, ...endpoint }
}
const plain = await on('plain', {})
const others = [
  await on('plain again', {}),
  await on('a rule of three steps', { storeRules: STEPS }),
  await on('encrypted', { encryptBodies: true }),
]

const order = (url: string) => ({
  url,
  connections: Number(values.connections),
  seconds: Number(values.seconds),
  warmupSeconds: WARMUP_SECONDS,
  body: BODY,
  headers: HEADERS,
})

const postmaster = await postmasterOf((await findEmbeddedPostgres(folder.dataDir)) ?? '')

/** The rate of a burst, and the processor time for one of its captures in microseconds. */
interface Burst {
  readonly perSecond: number
  readonly gateway: number
  readonly database: number
}

async function burstOn(variant: Variant): Promise<Burst> {
  const before = await everStored(variant)
  const spent = async () =>
    [await cpuMicroseconds([service.pid]), await postgresMicroseconds(postmaster)] as const
  const [gatewayBefore, databaseBefore] = await spent()
  const { acknowledged, refused, perSecond } = await load(order(variant.url))
  const [gateway, databaseAfter] = await spent()
  const stored = (await everStored(variant)) - before
  if (stored !== acknowledged || refused > 0)
    throw new Error(`${acknowledged} acknowledged, ${refused} refused, but ${stored} stored`)
  return {
    perSecond,
    gateway: (gateway - gatewayBefore) / acknowledged,
    database: (databaseAfter - databaseBefore) / acknowledged,
  }
}

for (const { url } of [plain, ...others])
  await load({ ...order(url), seconds: 0, warmupSeconds: WARM_SECONDS })
const variants = [plain, ...others]
const bursts = new Map<Variant, Burst[]>(variants.map((variant) => [variant, []]))
for (let round = 0; round < Number(values.rounds); round += 1)
  for (const [variant, taken] of bursts) taken.push(await burstOn(variant))
const ofPlain = bursts.get(plain) ?? []
report({
  group: 'privacy',
  name: 'captures of a plain endpoint',
  value: percentile(
    ofPlain.map(({ perSecond }) => perSecond),
    0.5,
  ),
  unit: '/s',
})
for (const [{ name }, taken] of bursts) {
  for (const part of ['gateway', 'database'] as const)
    report({
      group: 'privacy',
      name: `processor time of the ${part} for a capture, ${name}`,
      value: percentile(
        taken.map((burst) => burst[part]),
        0.25,
      ),
      unit: 'µs',
    })
  if (name === plain.name) continue
  const goal = GOALS[name]
  report({
    group: 'privacy',
    name: `captures with ${name}, against a plain endpoint`,
    value: percentile(
      taken.map(({ perSecond }, round) => perSecond / (ofPlain[round]?.perSecond ?? perSecond)),
      0.5,
    ),
    unit: '×',
    ...(goal === undefined ? {} : { goal }),
  })
}
await service.stop()
