/**
 * `bun run test [paths…]`: installs, checks types and lint, and runs the suite on a PostgreSQL of its own. With paths,
 * only those files, unchecked: the short way while working on something.
 *
 * The last line is `N passed, N failed`; the exit code is 0 when nothing failed.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installMissing } from './install.ts'

const ROOT = join(import.meta.dir, '..')
const FOLDER_PREFIX = 'creel-suite-'
const PARALLEL = 2
const TEST_SECONDS_MAX = 120

installMissing()
// Not before: they import packages.
const { startEmbeddedPostgres } = await import('../creel/src/embeddedPostgres/index.ts')
const { makeTemplateDatabase } = await import('../tests/support/templateDatabase.ts')
const { verify } = await import('./verify.ts')

const paths = process.argv.slice(2)
const log = { info: () => {}, warn: console.error, error: console.error }

const unverified = paths.length === 0 ? verify() : []
if (unverified.length > 0) {
  process.stderr.write(`${unverified.join(' and ')} failed; the tests were not run\n`)
  finish(0, unverified.length)
}

await removeLeftovers()
const dataDir = await mkdtemp(join(tmpdir(), FOLDER_PREFIX))
// Nothing of it outlives the run, so it need not survive a crash. Tests of crashes start one of their own.
const postgres = await startEmbeddedPostgres({ dataDir, log, durable: false })
const stop = async () => {
  await postgres.stop()
  await rm(await realHome(dataDir), { recursive: true, force: true })
  await rm(dataDir, { recursive: true, force: true })
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => void stop().finally(() => process.exit(130)))
}

try {
  await makeTemplateDatabase(postgres.url)
  const { passed, failed } = await runTests({
    CREEL_TEST_DATABASE_URL: postgres.url,
    ...(paths.length === 0 ? { CREEL_TEST_EXECUTABLE: buildExecutable(dataDir) } : {}),
  })
  await stop()
  finish(passed, failed)
} catch (error) {
  console.error(error)
  await stop()
  finish(0, 1)
}

function finish(passed: number, failed: number): never {
  process.stdout.write(`${passed} passed, ${failed} failed\n`)
  process.exit(failed === 0 ? 0 : 1)
}

/** Tests of real processes run the executable: it is what is shipped, and starts several times faster. */
function buildExecutable(outdir: string): string {
  const { exitCode } = Bun.spawnSync([process.execPath, join(ROOT, 'scripts/build.ts'), '--outdir', outdir], {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (exitCode !== 0) throw new Error('The executable cannot be built; see above.')
  return join(outdir, 'creel')
}

async function runTests(environment: Record<string, string>): Promise<{ passed: number; failed: number }> {
  const options = [`--parallel=${PARALLEL}`, `--timeout=${TEST_SECONDS_MAX * 1000}`]
  const child = Bun.spawn([process.execPath, 'test', ...options, ...paths], {
    cwd: ROOT,
    env: {
      ...process.env,
      ...environment,
      ...(process.stderr.isTTY ? { FORCE_COLOR: '1' } : {}),
    },
    stdio: ['ignore', 'inherit', 'pipe'],
  })
  let summary = ''
  const decoder = new TextDecoder()
  for await (const chunk of child.stderr) {
    process.stderr.write(chunk)
    // Bun's summary is the last thing it says.
    summary = (summary + decoder.decode(chunk, { stream: true })).slice(-4096)
  }
  const exitCode = await child.exited
  const count = (word: string) =>
    Number([...Bun.stripANSI(summary).matchAll(new RegExp(`^ *(\\d+) ${word}$`, 'gm'))].at(-1)?.[1] ?? 0)
  const passed = count('pass')
  const failed = count('fail') + count('errors?')
  // Also when Bun itself died, or a file could not be loaded.
  return { passed, failed: exitCode === 0 ? failed : Math.max(1, failed) }
}

/** Databases of runs that were killed: their PostgreSQL still runs. Those of runs under way are left alone. */
async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(FOLDER_PREFIX)) continue
    const folder = join(tmpdir(), name)
    const owner = Number(await readFile(join(folder, 'owner.pid'), 'utf8').catch(() => ''))
    if (!(owner > 0) || isAlive(owner)) continue
    const leftover = await startEmbeddedPostgres({ dataDir: folder, log, durable: false }).catch(
      () => undefined,
    )
    await leftover?.stop()
    await rm(await realHome(folder), { recursive: true, force: true })
    await rm(folder, { recursive: true, force: true })
  }
}

/** The database folder itself, where root had to put it elsewhere. */
async function realHome(folder: string): Promise<string> {
  const { realpath } = await import('node:fs/promises')
  return realpath(join(folder, 'postgres')).catch(() => join(folder, 'postgres'))
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
