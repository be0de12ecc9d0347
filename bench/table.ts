/**
 * `bun run bench:table [part…]`: measures figures with a goal, by short samples, in less than six minutes on a quiet
 * machine. It prints a Markdown table, and writes nothing. A part that fails is named, and the others are still
 * measured.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Figure, meetsGoal, readable } from './support/report.ts'

const PARTS: Readonly<Record<string, readonly string[]>> = {
  capture: ['--rounds', '3', '--seconds', '1'],
  delivery: ['8000', '1'],
  search: ['100000'],
  await: [],
  gateways: ['2'],
}

const folder = await mkdtemp(join(tmpdir(), 'creel-bench-table-'))
const file = join(folder, 'figures.jsonl')
const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(PARTS)
const failed: string[] = []
for (const name of wanted) {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, `${name}.ts`), ...(PARTS[name] ?? [])], {
    env: { ...process.env, CREEL_BENCH_FIGURES: file },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if ((await child.exited) !== 0) failed.push(name)
}
const text = await readFile(file, 'utf8').catch(() => '')
await rm(folder, { recursive: true, force: true })
const figures = text
  .split('\n')
  .filter((line) => line !== '')
  .map((line): Figure => JSON.parse(line))

console.log('\n| | measured | goal | met |\n|---|---|---|---|')
for (const figure of figures) {
  const { name, value, unit, goal } = figure
  if (goal === undefined) continue
  const wantedText = 'atLeast' in goal ? `≥ ${readable(goal.atLeast)}` : `≤ ${readable(goal.atMost)}`
  const met = meetsGoal(figure) === true ? 'yes' : '**no**'
  console.log(`| ${name} | ${readable(value)} ${unit} | ${wantedText} | ${met} |`)
}
if (failed.length > 0) {
  console.error(`failed: ${failed.join(', ')}`)
  process.exit(1)
}
