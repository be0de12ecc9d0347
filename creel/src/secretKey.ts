import { randomBytes } from 'node:crypto'
import { link, open, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Db, hasSealedSecrets } from '@creel/core'
import type { Config } from './config/index.ts'
import { syncFolder } from './dataFolder.ts'
import { StartupError } from './startupError.ts'

const secretKeyFile = (dataDir: string): string => join(dataDir, 'secret.key')

/**
 * The configured keys, newest first, else the one of the data folder.
 *
 * @param db already migrated
 * @throws StartupError when the key of the data folder is missing or invalid
 */
export async function secretKeysOf(config: Config, db: Db): Promise<[Buffer, ...Buffer[]]> {
  if (config.CREEL_SECRET_KEYS !== undefined) return config.CREEL_SECRET_KEYS
  return [config.CREEL_SECRET_KEY ?? (await keyOfDataFolder(config.CREEL_DATA_DIR, db))]
}

/**
 * The key that encrypts secrets at rest: the one of a data folder. For a new database without one it is generated there
 * (32 bytes in base64, readable by its owner alone). It is on disk before it is used, because losing it loses the
 * secrets.
 *
 * @throws StartupError when the file is not a valid key, or is missing although the database was used with one
 */
async function keyOfDataFolder(dataDir: string, db: Db): Promise<Buffer> {
  const file = secretKeyFile(dataDir)
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw new StartupError(`The secret key ${file} cannot be read: ${error.message}`, { cause: error })
  })
  if (text === undefined) {
    if (!(await hasSealedSecrets(db))) return generate(file)
    throw new StartupError(
      `${file} is missing, but this database was used with it. Restore it from your backup. A new key cannot decrypt the stored secrets.`,
    )
  }
  const key = Buffer.from(text.trim(), 'base64')
  if (key.length !== 32) {
    throw new StartupError(`${file} is not 32 bytes in base64. Restore it from your backup.`)
  }
  return key
}

async function generate(file: string): Promise<Buffer> {
  const key = randomBytes(32)
  const unfinished = `${file}.${process.pid}`
  const handle = await open(unfinished, 'w', 0o600)
  await handle.writeFile(`${key.toString('base64')}\n`)
  await handle.sync()
  await handle.close()
  try {
    // Unlike a rename, a link never replaces the key of a process that was faster.
    await link(unfinished, file)
    await syncFolder(dirname(file))
  } finally {
    await rm(unfinished, { force: true })
  }
  return key
}
