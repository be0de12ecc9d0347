import { setTimeout as pause } from 'node:timers/promises'
import { type Db, run, statement } from '@creel/core'
import { StartupError } from '../startupError.ts'

const OLDEST_MAJOR_VERSION = 15
const WAIT_SECONDS_MAX = 30
const RETRY_MILLISECONDS = 500

/** Errors while PostgreSQL is still starting (in compose, after a reboot). */
const PASSING_CODES = new Set(['ECONNREFUSED', 'ENOENT', 'EAI_AGAIN', 'ETIMEDOUT', '57P03', '53300'])

const TLS_WORDS: readonly [pattern: RegExp, words: string][] = [
  [
    /^(UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT(_LOCALLY)?|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|CERT_UNTRUSTED)$/,
    'its certificate is not signed by the CA in sslrootcert, or by a CA of the system if that is not set',
  ],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'its certificate is for another name than the host of the URL'],
  [/^CERT_HAS_EXPIRED$/, 'its certificate has expired'],
  [/^CERT_NOT_YET_VALID$/, 'its certificate is not valid yet'],
  [/does not support SSL connections/, 'it does not offer TLS, which sslmode requires'],
]

/** Explains a TLS error to the author of the URL; undefined for another error. */
function tlsWords(code: string, message: string): string | undefined {
  return TLS_WORDS.find(([pattern]) => pattern.test(code) || pattern.test(message))?.[1]
}

const VERSION = statement(
  'version of server',
  `select current_setting('server_version_num') as version, current_setting('server_encoding') as encoding`,
  { isPrepared: false, notNull: ['version', 'encoding'] },
)

/**
 * Waits for the database to answer, and checks its version.
 *
 * @param options `warn` is called once with the reason for waiting; `waits`: false does not wait, true by default
 * @throws StartupError when it is too old, does not store UTF8, refuses us, or does not answer within 30 s
 */
export async function requireServer(
  db: Db,
  { warn, waits = true }: { readonly warn: (words: string) => void; readonly waits?: boolean | undefined },
): Promise<void> {
  const deadline = performance.now() + (waits ? WAIT_SECONDS_MAX * 1000 : 0)
  for (let hasWaited = false; ; hasWaited = true) {
    try {
      const rows = await run(db, VERSION, [])
      const [{ version, encoding } = { version: '0', encoding: '' }] = rows
      const major = Math.floor(Number(version) / 10_000)
      if (encoding !== 'UTF8') {
        throw new StartupError(
          `The encoding of the database is ${encoding}; creel needs UTF8, because requests hold text in any language. ` +
            "Create it with `create database creel encoding 'UTF8' template template0`.",
        )
      }
      if (major >= OLDEST_MAJOR_VERSION) return
      throw new StartupError(
        `DATABASE_URL points to PostgreSQL ${major}; creel needs ${OLDEST_MAJOR_VERSION} or newer.`,
      )
    } catch (error) {
      if (error instanceof StartupError) throw error
      const { code, message } = describe(error)
      if (!PASSING_CODES.has(code) || performance.now() > deadline) {
        const words = tlsWords(code, message)
        const reason = words === undefined ? message : `${words} (${message})`
        throw new StartupError(`The database cannot be used: ${reason}. Check DATABASE_URL.`, {
          cause: error,
        })
      }
      if (!hasWaited) warn(`waiting for the database: ${message}`)
      await pause(RETRY_MILLISECONDS)
    }
  }
}

/**
 * Code and message of an error. Node bundles the errors of several addresses of one name, and leaves the bundle's
 * message empty.
 */
function describe(error: unknown): { code: string; message: string } {
  const [first = error] = error instanceof AggregateError ? error.errors : []
  const code = first instanceof Error && 'code' in first ? String(first.code) : ''
  return { code, message: first instanceof Error ? first.message || code : String(first) }
}
