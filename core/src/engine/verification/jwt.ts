import { z } from 'zod'
import type { SchemeRow } from '../providers/index.ts'
import { bytesOf, decodeSignature } from './byteText.ts'

import type { Key } from './keys.ts'
import { matcherFor } from './matching.ts'
import { sha256Hex } from './message.ts'

/** The longest token that is read: real ones stay below 8 KB; Wix's carry the event and stay below 1 MiB. */
const TOKEN_LENGTH_MAX = 1_048_576

/** Tolerance for differing clocks when `exp` and `nbf` are compared with the time of receipt. */
const LEEWAY_SECONDS = 60

const Header = z.object({ alg: z.string() })
const Claims = z.record(z.string(), z.unknown())

/** Result of checking a token. `coversBody`: the token holds the digest of this body. */
export type JwtCheck =
  | { readonly kind: 'matches'; readonly coversBody: boolean }
  /** `reason` is null when the signature itself is wrong. */
  | { readonly kind: 'differs'; readonly reason: string | null }

/** The claims of a token before any check; undefined when it is not a JWT. */
export function unverifiedClaims(token: string): Record<string, unknown> | undefined {
  const [, payload] = token.length > TOKEN_LENGTH_MAX ? [] : token.split('.', 3)
  return payload === undefined ? undefined : decodePart(payload, Claims)
}

/**
 * Checks a JWT with the algorithm of the scheme, never with one that the token names.
 *
 * @param body of the request, for schemes whose token carries its hash
 */
export function checkJwt(
  scheme: Pick<SchemeRow, 'algs' | 'claims' | 'bodyHashClaim'>,
  key: Key,
  token: string,
  body: Uint8Array,
  receivedAt: Date,
): JwtCheck {
  const parts = token.length > TOKEN_LENGTH_MAX ? [] : token.split('.', 4)
  const [head, payload, signature] = parts
  if (parts.length !== 3 || head === undefined || payload === undefined || signature === undefined) {
    return differs('the value is not a JWT')
  }
  const header = decodePart(head, Header)
  const claims = decodePart(payload, Claims)
  const bytes = decodeSignature(signature, 'base64url')
  if (header === undefined || claims === undefined) return differs('the value is not a JWT')
  if (!scheme.algs?.some((alg) => alg === header.alg)) {
    return differs(`the JWT is not signed with ${scheme.algs?.join(' or ')}`)
  }
  const mac = header.alg === 'HS256' ? 'hmac' : 'rsa'
  if (bytes === undefined) return differs(null)
  if (!matcherFor(mac, 'sha256', key, [bytesOf(`${head}.${payload}`)])(bytes)) return differs(null)
  return checkClaims(scheme, claims, body, receivedAt)
}

function checkClaims(
  scheme: Pick<SchemeRow, 'claims' | 'bodyHashClaim'>,
  claims: Record<string, unknown>,
  body: Uint8Array,
  receivedAt: Date,
): JwtCheck {
  for (const [name, wanted] of Object.entries(scheme.claims ?? {})) {
    if (claims[name] !== wanted) return differs(`the JWT is signed, but its claim ${name} is not "${wanted}"`)
  }
  const received = receivedAt.getTime() / 1000
  if (typeof claims.exp === 'number' && received > claims.exp + LEEWAY_SECONDS) {
    return differs('the JWT is signed, but had expired at receipt')
  }
  if (typeof claims.nbf === 'number' && received < claims.nbf - LEEWAY_SECONDS) {
    return differs('the JWT is signed, but was not valid yet at receipt')
  }
  const rule = scheme.bodyHashClaim
  if (rule === undefined) return { kind: 'matches', coversBody: false }
  const hash = claims[rule.name]
  if (hash === undefined && rule.optional === true) return { kind: 'matches', coversBody: false }
  return hash === sha256Hex(body)
    ? { kind: 'matches', coversBody: true }
    : differs('the JWT is signed, but the body is not the one that it names')
}

function differs(reason: string | null): JwtCheck {
  return { kind: 'differs', reason }
}

function decodePart<Shape>(part: string, schema: z.ZodType<Shape>): Shape | undefined {
  try {
    return schema.safeParse(JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))).data
  } catch {
    return undefined
  }
}
