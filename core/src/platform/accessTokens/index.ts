import { createHash } from 'node:crypto'
import type { WireHeader } from '../../engine/message/index.ts'
import { type Outbound, userAgent } from '../outbound/index.ts'

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

/** Time limit of a fetch, from dialling to the last byte read, in milliseconds. */
const FETCH_MS = 10_000
/** The longest answer of a token endpoint, in bytes. */
const ANSWER_BYTES_MAX = 65_536
/** The longest token, in characters: it goes into one header. */
const TOKEN_LENGTH_MAX = 16_384
/** An `error` of RFC 6749 §5.2. Other texts of a server are not shown. */
const ERROR_CODE = /^[a-z_]{1,40}$/
/** Characters that an Authorization field can hold. */
const TOKEN = /^[\x21-\x7e]+$/

/** A client of an OAuth 2 server that acts for itself (RFC 6749 §4.4). */
export interface ClientCredentials {
  readonly tokenUrl: string
  readonly clientId: string
  readonly clientSecret: string
  /** Null leaves it to the server. */
  readonly scope: string | null
}

/** A token from its server, or why there is none. */
type FetchedToken =
  | {
      readonly token: string
      /** Null when the server does not say. */
      readonly expiresInSeconds: number | null
    }
  | { readonly failure: string }

/** Fetches a token from a token endpoint, once. Never rejects; the failure contains no secret. */
async function fetchToken(
  outbound: Outbound,
  userAgent: WireHeader,
  { tokenUrl, clientId, clientSecret, scope }: ClientCredentials,
): Promise<FetchedToken> {
  const form = new URLSearchParams({ grant_type: 'client_credentials' })
  if (scope !== null) form.set('scope', scope)
  const result = await outbound.send({
    method: 'POST',
    url: tokenUrl,
    headers: [
      userAgent,
      ['Accept', 'application/json'],
      ['Content-Type', 'application/x-www-form-urlencoded'],
      ['Authorization', basicField(formEncoded(clientId), formEncoded(clientSecret))],
    ],
    body: Buffer.from(form.toString()),
    totalTimeoutMs: FETCH_MS,
    maxResponseBytes: ANSWER_BYTES_MAX,
  })
  if (result.outcome !== 'response')
    return failed(`the token endpoint did not answer: ${result.outcome}: ${result.detail}`)
  const answer = membersOf(result.body)
  const { statusCode } = result
  if (statusCode < 200 || statusCode > 299) {
    const code = typeof answer.error === 'string' && ERROR_CODE.test(answer.error) ? ` (${answer.error})` : ''
    return failed(`the token endpoint answered ${statusCode}${code}`)
  }
  return tokenOf(answer)
}

/** The value of an Authorization field for a name and a password (RFC 7617), in UTF-8. */
function basicField(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`
}

function tokenOf(answer: Readonly<Record<string, unknown>>): FetchedToken {
  const { access_token: token, token_type: type, expires_in: expires } = answer
  if (typeof token !== 'string' || token.length > TOKEN_LENGTH_MAX || !TOKEN.test(token))
    return failed('the answer of the token endpoint holds no access token')
  if (type !== undefined && String(type).toLowerCase() !== 'bearer')
    return failed('the token endpoint gave a token of another type than Bearer')
  const seconds = Number(expires ?? Number.NaN)
  return { token, expiresInSeconds: Number.isFinite(seconds) && seconds > 0 ? seconds : null }
}

function membersOf(body: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(new TextDecoder().decode(body)))
  } catch {
    return {}
  }
}

/** Encodes a text like a form, as RFC 6749 §2.3.1 requires for the field. */
const formEncoded = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1)

const failed = (failure: string): FetchedToken => ({ failure })
