import { Database } from 'bun:sqlite'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { StartupError } from '../startupError.ts'

/** Holds a data folder for one owner. */
export interface OwnerLock {
  release(): void
}

/**
 * Takes the data folder for this process. SQLite's exclusive transaction is the lock: it works on every system
 * that Bun runs on, also between two owners in one process, and the kernel drops it with the process, however
 * that dies. Nothing is ever written in that database.
 *
 * @throws StartupError naming the process that holds it
 */
export async function lockDataFolder(dataDir: string): Promise<OwnerLock> {
  const pidFile = join(dataDir, 'owner.pid')
  const database = new Database(join(dataDir, 'owner.lock'), { create: true })
  try {
    database.run('BEGIN EXCLUSIVE')
  } catch (cause) {
    database.close()
    const holder = (await readFile(pidFile, 'utf8').catch(() => '')).trim()
    throw new StartupError(
      `The data folder ${dataDir} is in use by another creel${holder === '' ? '' : ` (process ${holder})`}. ` +
        'Stop that one, name another folder in CREEL_DATA_DIR, or give both the same DATABASE_URL.',
      { cause },
    )
  }
  await writeFile(pidFile, `${process.pid}\n`)
  return { release: () => database.close() }
}
