import { createHash } from 'node:crypto'
import { type Outbound, userAgent } from '../outbound/index.ts'
import { type ClientCredentials, fetchToken } from './fetchToken.ts'

export type { ClientCredentials } from './fetchToken.ts'

/** Time before its expiry, in milliseconds, from which a token is no longer used. */
const UNUSED_BEFORE_END_MS = 60_000
/** Lifetime of a token whose server states none, in milliseconds. */
const LIFETIME_MS = 300_000
/** Time for which a failure is cached, in milliseconds, so that attempts do not each call a server that is down. */
const FAILURE_MS = 1000
/**
 * Time, in milliseconds, in which one new token is fetched after a 401. A receiver that refuses every token costs few
 * fetches.
 */
const RENEWAL_MS = 10_000
/** The most tokens that one process caches for one owner. Beyond it the least recently used is dropped. */
const TOKENS_PER_OWNER_MAX = 256
/** The most tokens that one process caches. */
const TOKENS_MAX = 4096

/** An access token, or a sentence without secrets that says why there is none. */
export type TokenResult = { readonly token: string } | { readonly failure: string }

/**
 * Access tokens of this process. Each is fetched once for all attempts that wait for it, and is kept in memory only.
 */
export interface AccessTokens {
  /**
   * Returns the token of a client. Never rejects; a fetch takes 10 s at most.
   *
   * @param owner workspace of the client; its tokens are not shared with others
   * @param refused token that a receiver answered with 401. Another one is fetched, unless that was done already or in
   *   the last 10 s
   */
  get(owner: string, client: ClientCredentials, refused?: string): Promise<TokenResult>
}

interface Entry {
  /** Resolves when the fetch has ended. */
  readonly result: Promise<TokenResult>
  /** Time of the clock; infinite while the token is fetched. */
  usableUntilMs: number
  token: string | undefined
  /** When a refused token was last replaced. */
  readonly renewedAtMs: number
}

export function createAccessTokens({
  outbound,
  clock,
  version,
}: {
  readonly outbound: Outbound
  readonly clock: { now(): Date }
  readonly version: string
}): AccessTokens {
  /** Ordered by last use. */
  const entries = new Map<string, Entry>()
  const nowMs = () => clock.now().getTime()

  function begin(key: string, client: ClientCredentials, renewedAtMs: number): Entry {
    const begunAtMs = nowMs()
    const fetching = fetchToken(outbound, userAgent(version), client)
    const entry: Entry = {
      usableUntilMs: Number.POSITIVE_INFINITY,
      token: undefined,
      renewedAtMs,
      result: fetching.then((fetched) => {
        if ('failure' in fetched) {
          entry.usableUntilMs = nowMs() + FAILURE_MS
          return fetched
        }
        const { token, expiresInSeconds } = fetched
        const lifetimeMs = expiresInSeconds === null ? LIFETIME_MS : expiresInSeconds * 1000
        entry.token = token
        entry.usableUntilMs = begunAtMs + lifetimeMs - UNUSED_BEFORE_END_MS
        return { token }
      }),
    }
    return remembered(key, entry)
  }

  function remembered(key: string, entry: Entry): Entry {
    entries.delete(key)
    entries.set(key, entry)
    const owner = ownerOf(key)
    const own = [...entries.keys()].filter((other) => ownerOf(other) === owner)
    const crowded = own.length > TOKENS_PER_OWNER_MAX ? own : entries.size > TOKENS_MAX ? entries.keys() : []
    for (const oldest of crowded) {
      entries.delete(oldest)
      break
    }
    return entry
  }

  return {
    async get(owner, client, refused) {
      const key = keyOf(owner, client)
      const known = entries.get(key)
      if (known === undefined) return await begin(key, client, Number.NEGATIVE_INFINITY).result
      if (nowMs() >= known.usableUntilMs) return await begin(key, client, known.renewedAtMs).result
      const isRefused = refused !== undefined && known.token === refused
      if (isRefused && nowMs() - known.renewedAtMs >= RENEWAL_MS)
        return await begin(key, client, nowMs()).result
      entries.delete(key)
      entries.set(key, known)
      return await known.result
    },
  }
}

/** Names a client without its secret. */
function keyOf(owner: string, { tokenUrl, clientId, clientSecret, scope }: ClientCredentials): string {
  const parts = JSON.stringify([tokenUrl, clientId, clientSecret, scope])
  return `${owner} ${createHash('sha256').update(parts).digest('hex')}`
}

const ownerOf = (key: string): string => key.slice(0, key.indexOf(' '))
