/**
 * `bun run test`: installs, checks types and lint, and runs every test on its own PostgreSQL. `bun run test <paths…>`
 * runs only those files, without checks, on a PostgreSQL that is kept for the next run. `bun run test:unit` runs the
 * tests next to the code, without a database. `--record` runs one file at a time and notes their processor time in
 * `tests/timings.json`; `--shuffle <seed>` runs the files in random order.
 *
 * A whole run shares two processors among thousands of tests that watch real processes. If tests of at most six files
 * fail, these files run once more, alone. Tests that fail again fail the run; those that pass are named before the summary.
 *
 * A run fails when its tests leave a file, a mount, a process or a database behind. The last line is `N passed, N
 * failed`, after what failed, with file and first line of error; the exit code is 0 when nothing failed.
 */
import { existsSync, lstatSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { KEPT_MEMORY } from '../creel/src/servingEnvironment.ts'
import { errorsOutside, failureLines, failuresOf, filesToRepeat, type Ran, summaryOf } from './failures.ts'
import { installMissing } from './install.ts'
import { keepRecord, writeTimingsForBun } from './testTimings.ts'

const ROOT = join(import.meta.dir, '..')
const PARALLEL = 4
/** A test takes some seconds, and on a busy machine a minute: this ends those that hang. */
const TEST_SECONDS_MAX = 600
/** Timeout for reading Bun's output after it has exited. */
const LAST_WORDS_MILLISECONDS = 1_000
/** Folders with tests next to the code. They need no database. */
const UNIT_FOLDERS = [
  './core',
  './gateway',
  './jobs',
  './creel',
  './clients/terminal',
  './migrations',
  './scripts',
]
/**
 * Tests that bound how long a bystander waits during an attack. They run one after the other. A whole run executes them
 * beside the other tests, which get the processor time that they leave: attacks wait for much of their time.
 */
const URGENT = ['./tests/attacks', './tests/security/search.test.ts']
/** Command before the tests that yield to the urgent ones. */
const YIELDING = ['nice', '-n', '15']
/** Flag that leaves out the urgent tests. */
const IGNORE_URGENT = `--path-ignore-patterns={${URGENT.map((path) => (path.endsWith('.ts') ? path.slice(2) : `${path.slice(2)}/**`)).join(',')}}`
/**
 * Tests are short, so the last tier of the compiler, a quarter of the processor's time, does not pay off. Tests that
 * measure run with it, like the service.
 */
const LIGHT = { BUN_JSC_useFTLJIT: '0' }

installMissing()
// Only now, since they import packages.
const { startEmbeddedPostgres } = await import('../creel/src/embeddedPostgres/index.ts')
const { holdKeptPostgres } = await import('./keptPostgres.ts')
const { makeRunFolder } = await import('./runFolder.ts')
const { databasesOfTests, makeTemplateDatabase } = await import('../tests/support/templateDatabase.ts')
const { verify } = await import('./verify.ts')

const { isUnit, isWhole, paths, isRecording, seed } = readArguments(process.argv.slice(2))

const folder = await makeRunFolder()
const opening = isUnit ? undefined : isWhole || isRecording ? ownPostgres() : holdKeptPostgres()
let ended: Promise<void> | undefined
const testing = new Set<Bun.Subprocess>()
const end = () => {
  ended ??= (async () => {
    await (await opening?.catch(() => undefined))?.release()
    await folder.remove()
  })()
  return ended
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    // A terminal signals every process of the run, `kill` only this one.
    for (const child of testing) child.kill('SIGKILL')
    void end().finally(() => process.exit(130))
  })
}

try {
  // In parallel: the longest check has a processor to itself in the end.
  const [unverified, database, executable] = await Promise.all([
    isWhole ? verify() : [],
    opening?.then(async ({ url }) => ({ url, template: await makeTemplateDatabase(url) })),
    isWhole || (isRecording && !isUnit) ? buildExecutable() : undefined,
  ])
  if (unverified.length > 0) {
    process.stderr.write(`${unverified.join(' and ')} failed; the tests were not run\n`)
    await end()
    finish(
      0,
      unverified.length,
      unverified.map((check) => `  ${check}`),
    )
  }
  const environment = {
    ...KEPT_MEMORY,
    TMPDIR: folder.temporary,
    ...(database === undefined
      ? {}
      : { CREEL_TEST_DATABASE_URL: database.url, CREEL_TEST_TEMPLATE: database.template }),
    ...(executable === undefined ? {} : { CREEL_TEST_EXECUTABLE: executable }),
    ...(existsSync(folder.prepared) ? { CREEL_TEST_DATA_FOLDER: folder.prepared } : {}),
    ...(isRecording ? { CREEL_TEST_RECORD: folder.record, CREEL_TEST_RUN: String(process.pid) } : {}),
  }
  writeTimingsForBun(folder.timings, seed)
  const light = { ...environment, ...LIGHT }
  const runs = isWhole
    ? await inOrder([
        () => runTests({ name: 'others', environment: light, words: [IGNORE_URGENT], before: YIELDING }),
        () => runTests({ name: 'urgent', environment, words: URGENT, parallel: 1 }),
      ])
    : [
        paths.every(isUrgent)
          ? await runTests({ name: 'urgent', environment, words: paths, parallel: 1 })
          : await runTests({ name: 'others', environment: light, words: paths }),
      ]
  const again = isWhole ? filesToRepeat(runs) : []
  const repeated =
    again.length === 0
      ? undefined
      : await runTests({ name: 'repeated', environment, words: again, parallel: 1 })
  const { passed, failed, failures, outside, passedAlone } = summaryOf(runs, repeated)
  if (isRecording) keepRecord(folder.record)
  const left = await leftovers(isWhole ? database?.url : undefined)
  await end()
  if (passedAlone.length > 0)
    process.stdout.write(
      `\nFailed among all others, passed when run alone:\n${failureLines(passedAlone, []).join('\n')}\n`,
    )
  finish(passed, failed + left.length, [
    ...failureLines(failures, outside),
    ...left.map((line) => `  left behind: ${line}`),
  ])
} catch (error) {
  console.error(error)
  await end()
  finish(0, 1)
}

/** Whether a path is, or is below, one of {@link URGENT}. */
function isUrgent(path: string): boolean {
  const normal = `./${normalize(path)}`
  return URGENT.some((urgent) => normal === urgent || normal.startsWith(`${urgent}/`))
}

/** At once, or one after the other if processor time is recorded. */
async function inOrder(runs: readonly (() => Promise<Ran>)[]): Promise<readonly Ran[]> {
  if (!isRecording) return await Promise.all(runs.map((run) => run()))
  const results: Ran[] = []
  for (const run of runs) results.push(await run())
  return results
}

function readArguments(words: readonly string[]) {
  const left = [...words]
  /** Removes a flag and its values. */
  const take = (flag: string, values: number) => {
    const at = left.indexOf(flag)
    return at === -1 ? undefined : left.splice(at, values + 1)
  }
  const isUnit = take('--unit', 0) !== undefined
  const isRecording = take('--record', 0) !== undefined
  const seed = take('--shuffle', 1)?.[1]
  // The others are paths, and flags of Bun.
  const paths = left
  return {
    isUnit,
    isRecording,
    seed,
    isWhole: !isUnit && paths.length === 0,
    paths: isUnit && paths.length === 0 ? UNIT_FOLDERS : paths,
  }
}

/** @param lines what failed: the last lines before the summary, also where stderr and stdout end in one log */
function finish(passed: number, failed: number, lines: readonly string[] = []): never {
  if (lines.length > 0) process.stdout.write(`\nFailed:\n${lines.join('\n')}\n`)
  process.stdout.write(`${passed} passed, ${failed} failed\n`)
  process.exit(failed === 0 ? 0 : 1)
}

/**
 * Starts the run's own PostgreSQL. It need not survive a crash. Tests of crashes start another one, most of them on a
 * copy of its folder, since the setup of PostgreSQL takes longer than the test.
 */
async function ownPostgres(): Promise<{ readonly url: string; release(): Promise<void> }> {
  const log = { info: () => {}, warn: console.error, error: console.error }
  const start = () => startEmbeddedPostgres({ dataDir: folder.database, log, durable: false })
  await (await start()).stop()
  // If PostgreSQL's account cannot reach the folder, it is a link, and copies would share one database.
  if (!lstatSync(join(folder.database, 'postgres')).isSymbolicLink()) {
    Bun.spawnSync(['cp', '-a', folder.database, folder.prepared])
  }
  const postgres = await start()
  return { url: postgres.url, release: postgres.stop }
}

/** @param url of a server without databases of other runs */
async function leftovers(url: string | undefined): Promise<readonly string[]> {
  const databases = url === undefined ? [] : await databasesOfTests(url)
  return [...(await folder.leftovers()), ...databases.map((name) => `database ${name}`)]
}

/** Builds the executable for tests of processes: it is what is shipped, and starts several times faster. */
async function buildExecutable(): Promise<string> {
  const words = [join(ROOT, 'scripts/build.ts'), '--outdir', dirname(folder.executable)]
  const child = Bun.spawn([process.execPath, ...words], {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if ((await child.exited) !== 0) throw new Error('The executable cannot be built; see above.')
  return folder.executable
}

/** Tests of one process of Bun and its workers. */
interface Run {
  /** Names its report. */
  readonly name: 'others' | 'urgent' | 'repeated'
  readonly environment: Record<string, string>
  /** The files, and further flags. */
  readonly words: readonly string[]
  /** Number of files that run at once. */
  readonly parallel?: number
  /** Words before the command. */
  readonly before?: readonly string[]
}

async function runTests({
  name,
  environment,
  words,
  parallel = isRecording ? 1 : PARALLEL,
  before = [],
}: Run): Promise<Ran> {
  const reportPath = folder.report(name)
  const options = [
    `--parallel=${parallel}`,
    // Reloading the program for each file would take a third of the time of the tests of routes.
    '--no-isolate',
    `--timeout=${TEST_SECONDS_MAX * 1000}`,
    `--timings=${folder.timings}`,
    '--reporter=junit',
    `--reporter-outfile=${reportPath}`,
  ]
  const child = Bun.spawn([...before, process.execPath, 'test', ...options, ...words], {
    cwd: ROOT,
    env: {
      ...process.env,
      ...environment,
      ...(process.stderr.isTTY ? { FORCE_COLOR: '1' } : {}),
    },
    stdio: ['ignore', 'inherit', 'pipe'],
  })
  testing.add(child)
  // No other output comes between.
  const isHeld = isWhole && name === 'urgent'
  let said = ''
  const decoder = new TextDecoder()
  const reading = (async () => {
    for await (const chunk of child.stderr) {
      if (!isHeld) process.stderr.write(chunk)
      said += decoder.decode(chunk, { stream: true })
    }
  })()
  const exitCode = await child.exited
  if (ended !== undefined) {
    // Ended by a signal: nothing else is started.
    await ended
    process.exit(130)
  }
  // A leftover process of a test may keep the pipe open for ever.
  await Promise.race([reading, Bun.sleep(LAST_WORDS_MILLISECONDS)])
  if (isHeld) process.stderr.write(said)
  const count = (word: string) =>
    // Bun's summary is the last thing it says.
    Number(
      [...Bun.stripANSI(said.slice(-4096)).matchAll(new RegExp(`^ *(\\d+) ${word}$`, 'gm'))].at(-1)?.[1] ?? 0,
    )
  const passed = count('pass')
  const failed = count('fail') + count('errors?')
  // Also when Bun itself died, or a file could not be loaded.
  const outside = errorsOutside(said)
  const report = await readFile(reportPath, 'utf8').catch(() => '')
  return {
    passed,
    failed: exitCode === 0 ? failed : Math.max(1, failed),
    failures: failuresOf(report),
    outside:
      outside.length > 0 || report !== '' || exitCode === 0
        ? outside
        : [`Bun ended with ${exitCode}, and reported nothing`],
  }
}
