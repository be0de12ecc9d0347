import { statfs } from 'node:fs/promises'
import type { Db } from '@creel/core'
import { readStorage } from '@creel/core/retention'
import type { Config } from './config/index.ts'
import { WAL_ROOM_BYTES } from './embeddedPostgres/index.ts'

/** Share of the disk's free space that captures may take. */
const SHARE_OF_FREE = 0.8

/**
 * Limit of what captures take in all, in bytes: the configured one. Else, with the embedded database, what they take already and 80 % of
 * the space that is free at the start, less what segments of the WAL ahead take. Null is no limit.
 */
export async function storageMaxOf(config: Config, db: Db): Promise<number | null> {
  const { CREEL_STORAGE_MAX: configured, CREEL_DATA_DIR: folder } = config
  if (configured === 'off') return null
  if (configured !== undefined) return configured
  // The free space of another machine is unknown.
  if (config.DATABASE_URL !== undefined) return null
  const { bavail, bsize } = await statfs(folder)
  const { totalBytes } = await readStorage(db)
  const free = Math.max(0, bavail * bsize - WAL_ROOM_BYTES)
  return Math.floor(SHARE_OF_FREE * free) + totalBytes
}
