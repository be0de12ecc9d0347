import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import type { Services } from '../api/services.ts'
import { findKey, findTokenKey, randomText, revokeKeyIn } from '../keys/index.ts'
import { sha256Of } from '../platform/secrets/index.ts'
import { findGrantOfFamily } from './queries.ts'

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
  return { code, sha256: sha256Of(code) }
}

export function codeDigest(code: string): Buffer | undefined {
  return CODE.test(code) ? sha256Of(code) : undefined
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
  familySha256: sha256Of(family),
  sha256: sha256Of(rest),
})

/** Code verifiers of RFC 7636 §4.1. */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/

export function isVerifierOf(challenge: string, verifier: string | undefined): boolean {
  if (verifier === undefined || !VERIFIER.test(verifier)) return false
  const digest = createHash('sha256').update(verifier, 'ascii').digest('base64url')
  return digest.length === challenge.length && timingSafeEqual(Buffer.from(digest), Buffer.from(challenge))
}

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

export interface TokenPair {
  readonly access: string
  readonly refresh: string
}

/** Seals tokens so that only a holder of a refresh token of the same family can have them opened. */
export function sealTokens(family: string, { access, refresh }: TokenPair): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, sealingKey(family), nonce)
  const sealed = Buffer.concat([cipher.update(`${access} ${refresh}`, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
}

/**
 * Opens sealed tokens.
 *
 * @throws Error when they were sealed for another family
 */
export function openTokens(family: string, sealed: Buffer): TokenPair {
  const decipher = createDecipheriv(CIPHER, sealingKey(family), sealed.subarray(0, NONCE_BYTES))
  decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  const rest = sealed.subarray(NONCE_BYTES + TAG_BYTES)
  const text = Buffer.concat([decipher.update(rest), decipher.final()]).toString('utf8')
  const [access = '', refresh = ''] = text.split(' ')
  return { access, refresh }
}

const sealingKey = (family: string) => createHmac('sha256', family).update('creel recent tokens').digest()

/**
 * Revokes the grant of an access token or a refresh token (RFC 7009). A grant has one of each, so both end. An old
 * refresh token of the grant counts, too.
 *
 * @param clientId the client that revokes; undefined if it does not say
 * @returns false for a token that is unknown, or of another client
 */
export async function revokeToken(
  services: Services,
  { token, clientId }: { readonly token: string; readonly clientId: string | undefined },
): Promise<boolean> {
  const refresh = readRefreshToken(token)
  const found =
    refresh === undefined
      ? await findTokenKey(services.db, sha256Of(token))
      : await findGrantOfFamily(services.db, refresh.familySha256)
  if (found === undefined || (clientId !== undefined && clientId !== found.clientId)) return false
  await services.db.transaction().execute(async (trx) => {
    const key = await findKey(trx, found.workspaceId, found.id)
    if (key === undefined) return
    const actor = { kind: 'key', id: key.id, name: key.name, address: null } as const
    await revokeKeyIn(trx, { ...services, actor }, key)
  })
  return true
}
