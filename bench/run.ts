/**
 * `bun run bench [--quick] [--write] [part…]`: runs every measurement, one after the other on an otherwise quiet
 * machine, and writes bench/results.json, and from it bench/RESULTS.md and bench/results.svg. With parts it runs only
 * those and prints the figures; with `--write` they replace earlier ones. `--quick` takes shorter samples, and marks
 * them in the results.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { plotOfGoals } from './support/plot.ts'
import { type Figure, meetsGoal, readable } from './support/report.ts'

const HERE = import.meta.dir
const RESULTS = join(HERE, 'results.json')
const { values, positionals } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, write: { type: 'boolean', default: false } },
  allowPositionals: true,
})

/** Arguments of each script, in the order of the table; none for its defaults. */
const SCRIPTS: Readonly<Record<string, readonly string[]>> = values.quick
  ? {
      boot: ['1'],
      capture: ['--rounds', '2'],
      dedupe: ['--rounds', '2'],
      answers: ['--rounds', '2'],
      privacy: ['--rounds', '2'],
      delivery: ['10000', '1'],
      transform: ['1'],
      search: [],
      pages: ['2', '1'],
      await: [],
      listen: ['3'],
      transfer: ['2000'],
      gateways: ['3'],
      cells: ['--rounds', '2'],
      cellFailure: ['5'],
      moves: ['--stored', '17000'],
      firstSecond: ['--starts', '1'],
      watchdogs: ['2'],
      sweep: ['100000', '5'],
      verification: [],
      console: ['3'],
      gaps: ['--seconds', '5'],
      flows: ['5000'],
      subscriptions: ['--rounds', '2'],
      cold: ['200000', '1'],
      soak: ['1'],
    }
  : {
      boot: [],
      capture: [],
      dedupe: [],
      answers: [],
      privacy: [],
      verification: [],
      delivery: [],
      transform: [],
      watchdogs: [],
      sweep: [],
      search: [],
      pages: [],
      await: [],
      listen: [],
      transfer: [],
      gateways: [],
      cells: [],
      cellFailure: [],
      moves: [],
      firstSecond: [],
      console: [],
      gaps: [],
      flows: [],
      subscriptions: [],
      cold: [],
      soak: [],
    }
const writes = positionals.length === 0 || values.write

const folder = await mkdtemp(join(tmpdir(), 'creel-bench-run-'))
const file = join(folder, 'figures.jsonl')
const wanted = positionals.length === 0 ? Object.keys(SCRIPTS) : positionals
const failed: string[] = []
for (const name of wanted) {
  const script = join(HERE, `${name}.ts`)
  const child = Bun.spawn([process.execPath, script, ...(SCRIPTS[name] ?? [])], {
    env: { ...process.env, CREEL_BENCH_FIGURES: file },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if ((await child.exited) !== 0) failed.push(name)
  // Written after every part, so that an interrupted run keeps its figures.
  if (writes) await writeResults()
}
await rm(folder, { recursive: true, force: true })
if (failed.length > 0) {
  console.error(`failed: ${failed.join(', ')}`)
  process.exit(1)
}

/** A figure with the day and kind of its measurement. */
interface Result extends Figure {
  /** UTC day. */
  readonly measuredOn: string
  /** Whether the sample was short. */
  readonly quick: boolean
}

/** Replaces the figures of the same groups by those of this run. */
async function writeResults(): Promise<void> {
  const text = await readFile(file, 'utf8').catch(() => '')
  const lines = text.split('\n').filter((line) => line !== '')
  const measuredOn = new Date().toISOString().slice(0, 10)
  const fresh = lines.map((line): Result => ({ ...JSON.parse(line), measuredOn, quick: values.quick }))
  const stored: Result[] = await Bun.file(RESULTS).json()
  const groups = new Set(fresh.map(({ group }) => group))
  const all = [...stored.filter(({ group }) => !groups.has(group)), ...fresh]
  await writeFile(RESULTS, `${JSON.stringify(all, null, 2)}\n`)
  await writeFile(join(HERE, 'RESULTS.md'), await resultsPage(all))
  await writeFile(join(HERE, 'results.svg'), plotOfGoals(all))
}

async function resultsPage(all: readonly Result[]): Promise<string> {
  const rows = all.map((figure) => {
    const { group, name, value, unit, goal, quick, idlePercent } = figure
    const wantedText =
      goal === undefined
        ? ''
        : 'atLeast' in goal
          ? `≥ ${readable(goal.atLeast)}`
          : `≤ ${readable(goal.atMost)}`
    const met = meetsGoal(figure)
    const metText = met === undefined ? '' : met ? 'yes' : '**no**'
    return `| ${group} | ${name}${quick ? ' (short sample)' : ''} | ${readable(value)} ${unit} | ${wantedText} | ${metText} | ${idlePercent === undefined ? '' : `${idlePercent} %`} |`
  })
  const days = [...new Set(all.map(({ measuredOn }) => measuredOn))].sort()
  return `# Benchmark results

Made by \`bun run bench\`. Load, service and PostgreSQL share the machine; every figure of Creel that is compared stands beside the
yardstick of the same moment, so ratios tell more than absolute numbers. The last column is the share of processor time that
was idle meanwhile. What misses its goal, and why:
[LIMITS.md](LIMITS.md).

- machine: ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}, ${(totalmem() / 2 ** 30).toFixed(0)} GiB
- ${process.platform}, Bun ${Bun.version}, PostgreSQL ${await postgresVersion()}
- ${days.join(', ')}

![figures against their goals](results.svg)

![p99.9 of captures after a cold start](cold.svg)

| part | figure | measured | goal | met | idle |
|---|---|---|---|---|---|
${rows.join('\n')}
`
}

/** Version of the embedded PostgreSQL, which every script uses. */
async function postgresVersion(): Promise<string> {
  const { optionalDependencies } = await Bun.file(join(HERE, '../creel/package.json')).json()
  return String(Object.values(optionalDependencies)[0] ?? 'unknown')
}
