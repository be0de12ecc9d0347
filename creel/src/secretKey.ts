import { randomBytes } from 'node:crypto'
import { link, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from './config/index.ts'
import { StartupError } from './startupError.ts'

/** The file of the generated key in a data folder. */
const secretKeyFile = (dataDir: string): string => join(dataDir, 'secret.key')

/** The configured key, else the one of the data folder. */
export async function secretKeyOf(config: Config): Promise<Buffer> {
  return config.CREEL_SECRET_KEY ?? (await keyOfDataFolder(config.CREEL_DATA_DIR))
}

/**
 * The key that secrets at rest are encrypted with: the one of a data folder, generated there when it has none (32 bytes
 * in base64, readable by its owner alone). It is on the disk before it is used: losing it loses the secrets.
 *
 * @throws StartupError when the file is there and is not such a key
 */
async function keyOfDataFolder(dataDir: string): Promise<Buffer> {
  const file = secretKeyFile(dataDir)
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw new StartupError(`The secret key ${file} cannot be read: ${error.message}`, { cause: error })
  })
  if (text === undefined) return generate(file)
  const key = Buffer.from(text.trim(), 'base64')
  if (key.length !== 32) {
    throw new StartupError(`${file} does not hold 32 bytes in base64: restore it from your backup.`)
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
    // Unlike a rename, a link never replaces the key of somebody who was quicker.
    await link(unfinished, file)
  } finally {
    await rm(unfinished, { force: true })
  }
  return key
}
