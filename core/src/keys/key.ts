import { createHash, randomBytes } from 'node:crypto'

/** Prefix of every key, by which secret scanners can find it. */
const KEY_PREFIX = 'creel_live_'

const SHOWN_CHARACTERS = KEY_PREFIX.length + 6

/** A new API key; only the prefix and the digest are stored. */
export interface NewKey {
  /** The whole key: shown once, stored nowhere. */
  readonly key: string
  /** Its first characters, safe to display. */
  readonly prefix: string
  readonly sha256: Buffer
}

/** A new key with 192 bits of randomness. */
export function newKey(): NewKey {
  const key = KEY_PREFIX + randomBytes(24).toString('base64url').replaceAll('-', 'A').replaceAll('_', 'B')
  return { key, prefix: key.slice(0, SHOWN_CHARACTERS), sha256: fingerprint(key) }
}

/** Longer than any key. */
const KEY_CHARACTERS_MAX = 200

/** Whether a text has the form of a key. Others are refused without a query. */
export function isKeyShaped(text: string): boolean {
  return text.startsWith(KEY_PREFIX) && text.length <= KEY_CHARACTERS_MAX
}

/** The stored digest of a key. */
export function fingerprint(key: string): Buffer {
  return createHash('sha256').update(key, 'utf8').digest()
}
