import { createHash, randomBytes } from 'node:crypto'

/** What a browser or a link holds, and what is stored of it. */
export interface Token {
  /** 256 random bits in base64url. */
  readonly token: string
  readonly sha256: Buffer
}

/** A token that cannot be guessed, and its digest. */
export function newToken(): Token {
  const token = randomBytes(32).toString('base64url')
  return { token, sha256: tokenFingerprint(token) }
}

/** What is stored of a token. */
export function tokenFingerprint(token: string): Buffer {
  return createHash('sha256').update(token, 'utf8').digest()
}
