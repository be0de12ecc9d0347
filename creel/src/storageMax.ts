import { statfs } from 'node:fs/promises'
import type { Db } from '@creel/core'
import { readStorage } from '@creel/core/retention'
import type { Config } from './config/index.ts'

/** Of the disk's free space, and of what captures take of it already. */
const SHARE_OF_FREE = 0.8

/**
 * What captures may take in all, in bytes: as configured; else, where the embedded database is on this machine's disk, 80 % of the space
 * that is free at the start, and what they take already. Null: no bound.
 */
export async function storageMaxOf(config: Config, db: Db): Promise<number | null> {
  const { CREEL_STORAGE_MAX: configured, CREEL_DATA_DIR: folder } = config
  if (configured === 'off') return null
  if (configured !== undefined) return configured
  // How much room another machine has, its database does not tell.
  if (config.DATABASE_URL !== undefined) return null
  const { bavail, bsize } = await statfs(folder)
  const { totalBytes } = await readStorage(db)
  return Math.floor(SHARE_OF_FREE * bavail * bsize) + totalBytes
}
