/** The folder of one run of the suite: its database, its executable, and the temporary files of its tests. */
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { startEmbeddedPostgres } from '../creel/src/embeddedPostgres/index.ts'
import { isAlive } from '../creel/src/stopping.ts'
import { kill, mountsIn, processesIn } from './processes.ts'
import { QUICK_FOLDERS, quickFolder } from './quickFolder.ts'

const PREFIX = 'creel-suite-'
const RUN_PID = 'run.pid'
const quiet = { info: () => {}, warn: () => {}, error: () => {} }

export interface RunFolder {
  /** Folder of the run's own PostgreSQL; made when it starts. */
  readonly database: string
  /** A copy of the empty database folder. */
  readonly prepared: string
  /** Path of the executable; what else a build makes is beside it. */
  readonly executable: string
  /** Path of Bun's report of some tests. */
  report(name: string): string
  /** Durations of the files, as Bun reads them. */
  readonly timings: string
  readonly record: string
  /** TMPDIR of the tests. */
  readonly temporary: string
  /** Leftovers of the tests: files, mounts and processes, a line each. */
  leftovers(): Promise<readonly string[]>
  /** Deletes the folder and its contents. */
  remove(): Promise<void>
}

/** Makes the folder of this run. Folders of killed runs are deleted first. */
export async function makeRunFolder(): Promise<RunFolder> {
  await removeAbandoned()
  const folder = await mkdtemp(join(quickFolder(), PREFIX))
  // Other accounts, under which programs are tested, must be able to pass through.
  await chmod(folder, 0o711)
  await writeFile(join(folder, RUN_PID), String(process.pid))
  const temporary = join(folder, 't')
  const executable = join(folder, 'creel')
  await mkdir(temporary)
  await chmod(temporary, 0o1777)
  return {
    database: join(folder, 'database'),
    prepared: join(folder, 'prepared'),
    executable,
    report: (name) => join(folder, `${name}.xml`),
    timings: join(folder, 'timings.json'),
    record: join(folder, 'record.jsonl'),
    temporary,
    async leftovers() {
      // Bun puts links to itself there.
      const files = (await readdir(temporary)).filter((name) => !name.startsWith('bun-'))
      return [
        ...files.map((name) => `file ${join(temporary, name)}`),
        ...mountsIn(temporary).map((place) => `mount ${place}`),
        ...[temporary, executable]
          .flatMap(processesIn)
          .map(({ pid, command }) => `process ${pid} ${command}`),
      ]
    },
    remove: () => removeFolder(folder),
  }
}

async function removeFolder(folder: string): Promise<void> {
  // Programs that tests had started when the run was ended.
  for (const { pid } of processesIn(folder)) kill(pid)
  for (const place of mountsIn(folder)) Bun.spawnSync(['umount', '-l', place])
  // If root runs the suite, the database may be elsewhere.
  const database = await realpath(join(folder, 'database', 'postgres')).catch(() => folder)
  await rm(database, { recursive: true, force: true })
  await rm(folder, { recursive: true, force: true })
}

/** Removes the folders of killed runs, whose PostgreSQL still runs. Current runs are left alone. */
async function removeAbandoned(): Promise<void> {
  const places = await Promise.all(
    QUICK_FOLDERS.map(async (place) =>
      (await readdir(place).catch(() => [])).map((name) => join(place, name)),
    ),
  )
  for (const folder of places.flat()) {
    if (!basename(folder).startsWith(PREFIX)) continue
    const run = Number(await readFile(join(folder, RUN_PID), 'utf8').catch(() => ''))
    if (!(run > 0) || isAlive(run)) continue
    const dataDir = join(folder, 'database')
    const hasDatabase = (await readdir(dataDir).catch(() => [])).length > 0
    if (hasDatabase) {
      const postgres = await startEmbeddedPostgres({ dataDir, log: quiet, durable: false }).catch(
        () => undefined,
      )
      await postgres?.stop()
    }
    await removeFolder(folder)
  }
}
