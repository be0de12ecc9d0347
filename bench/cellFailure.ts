/**
 * `bun bench/cellFailure.ts [seconds]`: three cells, each on a PostgreSQL server of its own. All get captures at a fixed pace. One
 * server is terminated at once, and started again later. Reported are the times of captures in the other two cells before, while it is
 * away, and from its return on, and those of the answers to its own senders.
 */
import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@creel/program'
import { startCreel } from './support/creelProcess.ts'
import { paced } from './support/paced.ts'
import { percentile, report } from './support/report.ts'
import { openBenchFolder, openWorkspace } from './support/workspace.ts'

/** Length of each part. */
const seconds = Number(process.argv[2] ?? 20)
const PARTS = ['before', 'while a cell is away', 'after its return'] as const
const CELLS = ['cell-1', 'cell-2', 'cell-3'] as const
const LOST = 2
const CAPTURES_PER_SECOND = 150
const WARM_SECONDS = 5
/** The p99 of other cells may become so much longer. */
const GOAL = 1.2
const body = JSON.stringify({ type: 'cell', data: 'x'.repeat(990) })

await using folder = await openBenchFolder()
const log = { info: () => {}, warn: () => {}, error: () => {} }
const root = join(folder.dataDir, '..')
const folders = CELLS.map((name) => join(root, name))
await Promise.all(folders.map((dataDir) => mkdir(dataDir)))
const servers = await Promise.all(folders.map((dataDir) => startEmbeddedPostgres({ dataDir, log })))
const env = {
  ...folder.env,
  CREEL_CELLS_FILE: join(root, 'cells.json'),
  CREEL_SECRET_KEY: randomBytes(32).toString('base64'),
}
const cells = CELLS.map((name, at) => ({ name, number: at + 1, databaseUrl: servers[at]?.url }))
await writeFile(env.CREEL_CELLS_FILE, JSON.stringify({ cells }))
const main = join(import.meta.dir, '../creel/src/main.ts')
await Bun.$`${process.execPath} ${main} migrate --all`.env(env).quiet()
const service = await startCreel(env)
const urls = await Promise.all(
  CELLS.map(async (name) => {
    const workspace = await openWorkspace(service.baseUrl, { ...env, CREEL_CELL: name })
    return (await workspace.endpoint()).url
  }),
)

interface Answer {
  readonly part: (typeof PARTS)[number]
  readonly cell: number
  readonly status: number
  readonly ms: number
}
const answers: Answer[] = []
let part: Answer['part'] | undefined
const all = { perSecond: CAPTURES_PER_SECOND * CELLS.length, seconds: WARM_SECONDS + PARTS.length * seconds }
let sent = 0
await Promise.all([paced(all, captureOnce), failAndReturn()])
await service.stop()
await Promise.all(servers.map((server) => server.stop()))

async function captureOnce(): Promise<void> {
  sent += 1
  const [cell, from, when] = [sent % CELLS.length, performance.now(), part]
  const send = () => fetch(urls[cell] ?? '', { method: 'POST', body })
  // Kept connections may be closed while they are taken again: senders then use another one.
  const answer = await send().catch(send)
  await answer.arrayBuffer()
  if (when !== undefined)
    answers.push({ part: when, cell, status: answer.status, ms: performance.now() - from })
}

async function failAndReturn(): Promise<void> {
  await Bun.sleep(WARM_SECONDS * 1000)
  part = 'before'
  await Bun.sleep(seconds * 1000)
  part = 'while a cell is away'
  const [lost, dataDir = ''] = [servers[LOST], folders[LOST]]
  lost?.kill()
  await lost?.stop()
  await Bun.sleep(seconds * 1000)
  part = 'after its return'
  servers[LOST] = await startEmbeddedPostgres({ dataDir, log })
}

const group = 'cell failure'
const where = `${CAPTURES_PER_SECOND} captures/s to each of three cells`
const timesOf = (when: Answer['part'], isLost: boolean) =>
  answers.filter((one) => one.part === when && (one.cell === LOST) === isLost).map(({ ms }) => ms)
const p99 = (when: Answer['part']) => percentile(timesOf(when, false), 0.99)
for (const when of PARTS) {
  for (const share of [0.5, 0.99, 0.999]) {
    const name = `other cells, ${when}, p${share * 100}, ${where}`
    report({ group, name, value: percentile(timesOf(when, false), share), unit: 'ms' })
  }
}
for (const when of PARTS.slice(1)) {
  const name = `other cells, p99 ${when} against before`
  report({ group, name, value: p99(when) / p99('before'), unit: '×', goal: { atMost: GOAL } })
}
const refused = answers.filter(({ status }) => status !== 200)
const elsewhere = refused.filter(({ cell }) => cell !== LOST).length
report({ group, name: 'captures refused in other cells', value: elsewhere, unit: '', goal: { atMost: 0 } })
report({
  group,
  name: 'senders of the lost cell, p99 of their answers while it is away',
  value: percentile(timesOf('while a cell is away', true), 0.99),
  unit: 'ms',
})
report({
  group,
  name: 'senders of the lost cell, longest time of an answer',
  value: Math.max(...timesOf('while a cell is away', true)),
  unit: 'ms',
})
