/**
 * `tests/timings.json`: how long each test file takes, and its processor time with that of the programs and of the
 * PostgreSQL that it uses, as `bun run test --record` has measured them with one file at a time.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'

const ROOT = join(import.meta.dir, '..')
const FILE = join(ROOT, 'tests/timings.json')

interface Timing {
  readonly seconds: number
  readonly processorSeconds: number
}

function read(): Readonly<Record<string, Timing>> {
  return JSON.parse(readFileSync(FILE, 'utf8'))
}

/**
 * Writes the timings as Bun reads them: each worker gets neighbours of about the same duration together, begins with
 * the slowest, and then takes the slowest of others.
 *
 * @param seed makes the order of the files random, and the same for the same seed
 */
export function writeTimingsForBun(path: string, seed: string | undefined): void {
  const milliseconds = (file: string, { seconds }: Timing) =>
    seed === undefined ? Math.round(seconds * 1000) : Number(Bun.hash(`${seed} ${file}`) % 10_000n)
  const files = Object.fromEntries(
    Object.entries(read()).map(([file, timing]) => [file, milliseconds(file, timing)]),
  )
  writeFileSync(path, JSON.stringify({ version: 1, files }))
}

/** Takes over what `tests/support/fileTimes.ts` has recorded, and forgets files that are gone. */
export function keepRecord(recordPath: string): void {
  const timings = new Map(Object.entries(read()).filter(([file]) => existsSync(join(ROOT, file))))
  for (const line of readFileSync(recordPath, 'utf8').trimEnd().split('\n')) {
    const [path, seconds, processorSeconds] = JSON.parse(line) as [string, number, number]
    const file = relative(ROOT, path)
    if (/\.test\.tsx?$/.test(file))
      timings.set(file, { seconds: round(seconds), processorSeconds: round(processorSeconds) })
  }
  const lines = [...timings]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(
      ([file, { seconds, processorSeconds }]) =>
        `  "${file}": { "seconds": ${seconds}, "processorSeconds": ${processorSeconds} }`,
    )
  writeFileSync(FILE, `{\n${lines.join(',\n')}\n}\n`)
}

const round = (seconds: number) => Math.round(seconds * 100) / 100
