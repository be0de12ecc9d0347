import type { Db } from '@creel/core'
import { sql } from 'kysely'
import { StartupError } from '../startupError.ts'

const OLDEST_MAJOR_VERSION = 15
const WAIT_SECONDS_MAX = 30
const RETRY_MILLISECONDS = 500

/** What PostgreSQL says, or the system for it, while it is about to be there (in compose, after a reboot). */
const PASSING_CODES = new Set(['ECONNREFUSED', 'ENOENT', 'EAI_AGAIN', 'ETIMEDOUT', '57P03', '53300'])

/**
 * Waits for the database to answer, and makes sure that it is new enough.
 *
 * @param warn hears once why we wait
 * @throws StartupError when it is too old, does not store UTF8, refuses us, or is not there within 30 s
 */
export async function requireServer(db: Db, warn: (words: string) => void): Promise<void> {
  const deadline = performance.now() + WAIT_SECONDS_MAX * 1000
  for (let hasWaited = false; ; hasWaited = true) {
    try {
      const { rows } = await sql<{ version: string; encoding: string }>`
        select current_setting('server_version_num') as version, current_setting('server_encoding') as encoding
      `.execute(db)
      const [{ version, encoding } = { version: '0', encoding: '' }] = rows
      const major = Math.floor(Number(version) / 10_000)
      if (encoding !== 'UTF8') {
        throw new StartupError(
          `The database's encoding is ${encoding}; creel needs UTF8, since it stores what senders send in any language. ` +
            "Make one with `create database creel encoding 'UTF8' template template0`.",
        )
      }
      if (major >= OLDEST_MAJOR_VERSION) return
      throw new StartupError(
        `DATABASE_URL is a PostgreSQL ${major}; creel needs ${OLDEST_MAJOR_VERSION} or newer.`,
      )
    } catch (error) {
      if (error instanceof StartupError) throw error
      const { code, message } = describe(error)
      if (!PASSING_CODES.has(code) || performance.now() > deadline) {
        throw new StartupError(`The database cannot be used: ${message}. Check DATABASE_URL.`, {
          cause: error,
        })
      }
      if (!hasWaited) warn(`waiting for the database: ${message}`)
      await new Promise((resolve) => setTimeout(resolve, RETRY_MILLISECONDS))
    }
  }
}

/** Node bundles the errors of several addresses of one name, and leaves the message of the bundle empty. */
function describe(error: unknown): { code: string; message: string } {
  const [first = error] = error instanceof AggregateError ? error.errors : []
  const code = first instanceof Error && 'code' in first ? String(first.code) : ''
  return { code, message: first instanceof Error ? first.message || code : String(first) }
}
