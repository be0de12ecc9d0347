import { createHash, timingSafeEqual } from 'node:crypto'
import { fingerprint, randomText } from '../keys/index.ts'

const CODE_PREFIX = 'creel_code_'
const REFRESH_PREFIX = 'creel_refresh_'

/** Characters of {@link randomText}. */
const PART_CHARACTERS = 32

const REFRESH = new RegExp(
  `^${REFRESH_PREFIX}([A-Za-z0-9]{${PART_CHARACTERS}})([A-Za-z0-9]{${PART_CHARACTERS}})$`,
)
const CODE = new RegExp(`^${CODE_PREFIX}[A-Za-z0-9]{${PART_CHARACTERS}}$`)

/** A new authorization code; only its digest is stored. */
export function newCode(): { readonly code: string; readonly sha256: Buffer } {
  const code = CODE_PREFIX + randomText()
  return { code, sha256: fingerprint(code) }
}

/** Digest of a code; undefined for text that is none. */
export function codeDigest(code: string): Buffer | undefined {
  return CODE.test(code) ? fingerprint(code) : undefined
}

/**
 * A refresh token in its two parts. All tokens of a grant share the family, which only their holders know. So a token
 * of the family whose other part is not the present one is an old token, used again.
 */
export interface RefreshToken {
  readonly text: string
  readonly family: string
  readonly familySha256: Buffer
  readonly sha256: Buffer
}

/** @param family of the grant's former tokens; a new one by default */
export function newRefreshToken(family = randomText()): RefreshToken {
  return refreshToken(family, randomText())
}

/** The parts of a presented refresh token; undefined for text that is none. */
export function readRefreshToken(text: string): RefreshToken | undefined {
  const [, family, rest] = REFRESH.exec(text) ?? []
  return family === undefined || rest === undefined ? undefined : refreshToken(family, rest)
}

const refreshToken = (family: string, rest: string): RefreshToken => ({
  text: REFRESH_PREFIX + family + rest,
  family,
  familySha256: fingerprint(family),
  sha256: fingerprint(rest),
})

/** Code verifiers of RFC 7636 §4.1. */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/

/** Whether a code verifier is the one of an S256 challenge. */
export function isVerifierOf(challenge: string, verifier: string | undefined): boolean {
  if (verifier === undefined || !VERIFIER.test(verifier)) return false
  const digest = createHash('sha256').update(verifier, 'ascii').digest('base64url')
  return digest.length === challenge.length && timingSafeEqual(Buffer.from(digest), Buffer.from(challenge))
}
