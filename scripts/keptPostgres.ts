/**
 * A PostgreSQL for tests that outlives a run, so that the next run of the same checkout starts at once. A process of its own
 * keeps it, stops it when nobody has used it for a while or the checkout is gone, and takes its folder away.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, readFile, realpath, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findEmbeddedPostgres, startEmbeddedPostgres } from '../creel/src/embeddedPostgres/index.ts'
import { isAlive } from './processes.ts'
import { quickFolder } from './quickFolder.ts'

const ROOT = join(import.meta.dir, '..')
const IDLE_MINUTES = 15
const CHECK_MILLISECONDS = 5_000
const TOUCH_MILLISECONDS = 30_000
const START_SECONDS_MAX = 60
/** Its time is when the database was used last. The keeper renames it before it stops: whoever looks then, starts another. */
const MARK = 'used'

/** The kept database, as a run holds it. */
export interface KeptPostgres {
  readonly url: string
  /** The run is over. */
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

/** One for each checkout, and another when PostgreSQL or its settings change. */
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
  // A session of its own: Ctrl-C ends the run and not the keeper. It does not hold the run's pipes open either.
  const keeper = Bun.spawn(words, { stdio: ['ignore', 'ignore', 'ignore'], detached: true })
  keeper.unref()
  return keeper
}

async function ownerOf(folder: string): Promise<number> {
  return Number(await readFile(join(folder, 'owner.pid'), 'utf8').catch(() => ''))
}

/** @returns false when there is no mark: nothing is kept, or it is about to go */
async function touch(folder: string): Promise<boolean> {
  const now = new Date()
  return await utimes(join(folder, MARK), now, now).then(
    () => true,
    () => false,
  )
}

/** Keeps a PostgreSQL until nobody has used it for a while. */
async function keep(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o711 })
  const log = { info: () => {}, warn: console.error, error: console.error }
  // Fails where another keeper has the folder; that one goes on.
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
  // Where root runs it, the database may have had to live elsewhere.
  const home = await realpath(join(folder, 'postgres'))
  await postgres.stop()
  // At once, so that whoever starts another meanwhile begins with an empty folder.
  const gone = `${folder}.${process.pid}`
  await rename(folder, gone)
  if (!home.startsWith(folder)) await rm(home, { recursive: true, force: true })
  await rm(gone, { recursive: true, force: true })
}

/** Whether nobody has used it for long. Takes the mark away then: nobody can begin to while it is being stopped. */
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
