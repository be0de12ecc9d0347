import { createHash, randomBytes } from 'node:crypto'

/** A secret token of a browser or a link, with its stored digest. */
export interface Token {
  /** 256 random bits in base64url. */
  readonly token: string
  readonly sha256: Buffer
}

/** Creates an unguessable token and its digest. */
export function newToken(): Token {
  const token = randomBytes(32).toString('base64url')
  return { token, sha256: tokenFingerprint(token) }
}

/** The stored digest of a token. */
export function tokenFingerprint(token: string): Buffer {
  return createHash('sha256').update(token, 'utf8').digest()
}
