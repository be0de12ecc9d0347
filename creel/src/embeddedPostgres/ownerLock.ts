import { Database } from 'bun:sqlite'
import { closeSync, fchmodSync, openSync } from 'node:fs'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { StartupError } from '../startupError.ts'

/** Another process owns the data folder. */
export class DataFolderInUse extends StartupError {}

/** An exclusive lock on a data folder. */
export interface OwnerLock {
  release(): void
}

/**
 * Takes the data folder for this process. The lock is SQLite's exclusive transaction: it works on every system that Bun
 * runs on, also between two owners in one process, and the kernel releases it when the process dies in any way. Nothing
 * is ever written to that database.
 *
 * @throws DataFolderInUse naming the process that holds it; StartupError when the folder cannot be written
 */
export async function lockDataFolder(dataDir: string): Promise<OwnerLock> {
  const pidFile = join(dataDir, 'owner.pid')
  const database = openLockFile(join(dataDir, 'owner.lock'))
  try {
    database.run('BEGIN EXCLUSIVE')
  } catch (cause) {
    database.close()
    const holder = (await readFile(pidFile, 'utf8').catch(() => '')).trim()
    throw new DataFolderInUse(
      `The data folder ${dataDir} is in use by another creel${holder === '' ? '' : ` (process ${holder})`}. ` +
        'Stop it, set CREEL_DATA_DIR to another folder, or give both processes the same DATABASE_URL.',
      { cause },
    )
  }
  await writeFile(pidFile, `${process.pid}\n`, { mode: 0o600 })
  // An earlier release may have made it with another mode.
  await chmod(pidFile, 0o600)
  return { release: () => database.close() }
}

function openLockFile(file: string): Database {
  try {
    // Mode 0600, because every user that can open the file could lock it and keep the service from starting.
    const descriptor = openSync(file, 'a', 0o600)
    fchmodSync(descriptor, 0o600)
    closeSync(descriptor)
    return new Database(file, { create: true })
  } catch (cause) {
    throw new StartupError(`${file} cannot be written. Check that the data folder belongs to your user.`, {
      cause,
    })
  }
}
