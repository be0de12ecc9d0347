/**
 * A PostgreSQL for tests that outlives a run, so that the next run of the same checkout starts at once. A keeper
 * process stops it when it was unused for a while or the checkout is gone, and deletes its folder.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, readFile, realpath, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findEmbeddedPostgres, startEmbeddedPostgres } from '../creel/src/embeddedPostgres/index.ts'
import { isAlive } from '../creel/src/stopping.ts'
import { quickFolder } from './quickFolder.ts'

const ROOT = join(import.meta.dir, '..')
const IDLE_MINUTES = 15
const CHECK_MILLISECONDS = 5_000
const TOUCH_MILLISECONDS = 30_000
const START_SECONDS_MAX = 60
/**
 * A file whose time is the last use of the database. The keeper renames it before it stops, and later runs start
 * another.
 */
const MARK = 'used'

/** A run's handle on the kept database. */
export interface KeptPostgres {
  readonly url: string
  /** Ends the use by the run. */
  release(): void
}

/** Finds the checkout's kept PostgreSQL, or starts it. Several runs may hold it at once. */
export async function holdKeptPostgres(): Promise<KeptPostgres> {
  const folder = keptFolder()
  let keeper: Bun.Subprocess | undefined
  for (const deadline = performance.now() + START_SECONDS_MAX * 1000; performance.now() < deadline; ) {
    const isMarked = await touch(folder)
    const hasKeeper = isAlive(await ownerOf(folder))
    const url = isMarked && hasKeeper ? await findEmbeddedPostgres(folder) : undefined
    if (url !== undefined) {
      const timer = setInterval(() => void touch(folder), TOUCH_MILLISECONDS)
      return { url, release: () => clearInterval(timer) }
    }
    if (!hasKeeper && (keeper === undefined || keeper.exitCode !== null)) keeper = spawnKeeper(folder)
    await Bun.sleep(20)
  }
  throw new Error(`The kept PostgreSQL did not start; see ${join(folder, 'keeper.log')}.`)
}

/** The folder of this checkout. It changes with PostgreSQL and its settings. */
function keptFolder(): string {
  const hash = createHash('sha256')
    .update(ROOT)
    .update(readFileSync(join(ROOT, 'bun.lock')))
  const settings = join(ROOT, 'creel/src/embeddedPostgres')
  for (const name of readdirSync(settings).sort()) hash.update(readFileSync(join(settings, name)))
  return join(quickFolder(), `creel-kept-${hash.digest('hex').slice(0, 12)}`)
}

function spawnKeeper(folder: string): Bun.Subprocess {
  const command = `exec "$0" "$1" "$2" >>"$2/keeper.log" 2>&1`
  const words = ['sh', '-c', `mkdir -p -m 711 "$2" && ${command}`, process.execPath, import.meta.path, folder]
  // A separate session, so that Ctrl-C ends the run and not the keeper. It does not hold the run's pipes open either.
  const keeper = Bun.spawn(words, { stdio: ['ignore', 'ignore', 'ignore'], detached: true })
  keeper.unref()
  return keeper
}

async function ownerOf(folder: string): Promise<number> {
  return Number(await readFile(join(folder, 'owner.pid'), 'utf8').catch(() => ''))
}

/** @returns false when there is no mark: no database is kept, or it is about to stop */
async function touch(folder: string): Promise<boolean> {
  const now = new Date()
  return await utimes(join(folder, MARK), now, now).then(
    () => true,
    () => false,
  )
}

/** Keeps a PostgreSQL until it was unused for a while. */
async function keep(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o711 })
  const log = { info: () => {}, warn: console.error, error: console.error }
  // It fails if another keeper has the folder; that one continues.
  const postgres = await startEmbeddedPostgres({ dataDir: folder, log, durable: false })
  await writeFile(join(folder, MARK), '')
  const ended = Promise.withResolvers<void>()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => ended.resolve())
  const timer = setInterval(async () => {
    if (!existsSync(join(ROOT, 'package.json')) || (await isUnused(folder))) ended.resolve()
  }, CHECK_MILLISECONDS)
  await ended.promise
  clearInterval(timer)
  await rm(join(folder, MARK), { force: true })
  // If root runs it, the database may be elsewhere.
  const home = await realpath(join(folder, 'postgres'))
  await postgres.stop()
  // The folder is renamed at once, so that a new keeper starts with an empty one.
  const gone = `${folder}.${process.pid}`
  await rename(folder, gone)
  if (!home.startsWith(folder)) await rm(home, { recursive: true, force: true })
  await rm(gone, { recursive: true, force: true })
}

/** Whether it was unused for long. If so, removes the mark, so that no run begins to use it while it stops. */
async function isUnused(folder: string): Promise<boolean> {
  const [mark, taken] = [join(folder, MARK), join(folder, `${MARK}.taken`)]
  const isOld = async (file: string) => Date.now() - (await stat(file)).mtimeMs > IDLE_MINUTES * 60_000
  if (!(await isOld(mark))) return false
  await rename(mark, taken)
  if (await isOld(taken)) return true
  await rename(taken, mark)
  return false
}

if (import.meta.main) await keep(process.argv[2] ?? keptFolder())
