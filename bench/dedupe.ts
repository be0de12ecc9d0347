/**
 * `bun bench/dedupe.ts [--rounds 9] [--seconds 1] [--connections 64]`: captures with an event id, in bursts that take turns on
 * endpoints of one service, so that other work on the machine affects all of them. One endpoint takes every event, one takes each
 * event once and gets each once, and one gets each event five times and discards four. Reported are the medians of the rates, and of
 * the ratios within a round to the endpoint that takes every event; and the lower quartile of the processor time of gateway and
 * PostgreSQL for a capture, which other work on the machine can only raise.
 *
 * Ends with an error when an endpoint has not stored exactly what it should.
 */
import { parseArgs } from 'node:util'
import { findEmbeddedPostgres } from '@creel/program'
import { z } from 'zod'
import { BODY, HEADERS } from './support/captureVariants.ts'
import { cpuMicroseconds, postgresMicroseconds, postmasterOf } from './support/cpuTime.ts'
import { startCreel } from './support/creelProcess.ts'
import { load } from './support/load.ts'
import { percentile, report } from './support/report.ts'
import { openBenchFolder, openWorkspace } from './support/workspace.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '1' },
    connections: { type: 'string', default: '64' },
  },
})
const WARMUP_SECONDS = 0.3
const WARM_SECONDS = 5
const HEADER = 'X-Event-Id'
const RATIO_GOAL = 0.85

const Stats = z.object({
  storage: z.object({ storedRequestCount: z.int() }),
  traffic: z.object({ discardedCount: z.int() }),
})

await using folder = await openBenchFolder()
const service = await startCreel(folder.env)
const workspace = await openWorkspace(service.baseUrl, folder.env, 'team')
const eventIdPath = `headers.${HEADER.toLowerCase()}`
const dedupe = (mode: string) => ({ eventIdPath, dedupe: { by: 'event', windowSeconds: 3600, then: mode } })
const variants = [
  { name: 'every event', timesEach: 1, ...(await workspace.endpoint({ eventIdPath })) },
  { name: 'each event once, sent once', timesEach: 1, ...(await workspace.endpoint(dedupe('skip'))) },
  {
    name: 'each event once, sent five times',
    timesEach: 5,
    ...(await workspace.endpoint(dedupe('discard'))),
  },
]
type Variant = (typeof variants)[number]

let bursts = 0
const counts = new Map<Variant, { sent: number; ids: number }>()

const postmaster = await postmasterOf((await findEmbeddedPostgres(folder.dataDir)) ?? '')
const used = async () => (await cpuMicroseconds([service.pid])) + (await postgresMicroseconds(postmaster))

/** The rate of a burst, and the processor time for one of its captures in microseconds. */
interface Burst {
  readonly perSecond: number
  readonly cpuUs: number
}

async function burst(variant: Variant, seconds: number, warmupSeconds: number): Promise<Burst> {
  bursts += 1
  const before = await used()
  const { acknowledged, refused, perSecond } = await load({
    url: variant.url,
    connections: Number(values.connections),
    seconds,
    warmupSeconds,
    body: BODY,
    headers: HEADERS,
    ids: { header: HEADER, prefix: `burst-${bursts}-`, timesEach: variant.timesEach },
  })
  const cpuUs = ((await used()) - before) / acknowledged
  if (refused > 0) throw new Error(`${refused} were refused`)
  const known = counts.get(variant) ?? { sent: 0, ids: 0 }
  counts.set(variant, {
    sent: known.sent + acknowledged,
    ids: known.ids + Math.ceil(acknowledged / variant.timesEach),
  })
  return { perSecond, cpuUs }
}

for (const variant of variants) await burst(variant, 0, WARM_SECONDS)
const rates = new Map<Variant, number[]>()
const times = new Map<Variant, number[]>()
const ratios = new Map<Variant, number[]>()
const add = (to: Map<Variant, number[]>, variant: Variant, value: number) =>
  to.set(variant, [...(to.get(variant) ?? []), value])
for (let round = 0; round < Number(values.rounds); round += 1) {
  // Each round begins with another one: the first of a round may find the machine busy with the last of the one before.
  const turn = variants.map((_, at) => variants[(at + round) % variants.length] ?? variants[0])
  const measured = new Map<Variant, Burst>()
  for (const variant of turn) {
    if (variant === undefined) continue
    measured.set(variant, await burst(variant, Number(values.seconds), WARMUP_SECONDS))
  }
  const [every] = variants
  const yardstick = (every && measured.get(every)?.perSecond) ?? 1
  for (const [variant, { perSecond, cpuUs }] of measured) {
    add(rates, variant, perSecond)
    add(times, variant, cpuUs)
    add(ratios, variant, perSecond / yardstick)
  }
}
for (const variant of variants) {
  const where = `${variant.name}, ${values.connections} connections`
  report({ group: 'dedupe', name: where, value: percentile(rates.get(variant) ?? [], 0.5), unit: '/s' })
  const cpuUs = percentile(times.get(variant) ?? [], 0.25)
  report({ group: 'dedupe', name: `${where}, gateway and PostgreSQL`, value: cpuUs, unit: 'µs' })
  if (variant === variants[0]) continue
  report({
    group: 'dedupe',
    name: `${where}, against every event`,
    value: percentile(ratios.get(variant) ?? [], 0.5),
    unit: '×',
    ...(variant.timesEach === 1 ? { goal: { atLeast: RATIO_GOAL } } : {}),
  })
}
for (const [variant, { sent, ids }] of counts) {
  const { storage, traffic } = Stats.parse(
    await workspace.call('GET', `/api/v1/endpoints/${variant.id}/stats`),
  )
  const stored = storage.storedRequestCount
  if (stored !== ids || stored + traffic.discardedCount !== sent) {
    throw new Error(`${variant.name}: ${sent} sent with ${ids} ids, ${stored} stored`)
  }
}
console.log('stored = ids in every burst')
await service.stop()
