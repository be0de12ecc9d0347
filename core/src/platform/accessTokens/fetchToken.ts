import type { WireHeader } from '../../engine/message/index.ts'
import type { Outbound } from '../outbound/index.ts'

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
export type FetchedToken =
  | {
      readonly token: string
      /** Null when the server does not say. */
      readonly expiresInSeconds: number | null
    }
  | { readonly failure: string }

/** Fetches a token from a token endpoint, once. Never rejects; the failure contains no secret. */
export async function fetchToken(
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
export function basicField(name: string, password: string): string {
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
