import { createHash, randomBytes } from 'node:crypto'

/** Every key starts so; secret scanners can look for it. */
const KEY_PREFIX = 'creel_live_'

const SHOWN_CHARACTERS = KEY_PREFIX.length + 6

/** An API key at the moment when it is made; only the prefix and the digest are stored. */
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

/** Far longer than any key. */
const KEY_CHARACTERS_MAX = 200

/** Whether a text looks like a key at all: what does not is refused without asking the database. */
export function isKeyShaped(text: string): boolean {
  return text.startsWith(KEY_PREFIX) && text.length <= KEY_CHARACTERS_MAX
}

/** What is stored of a key. */
export function fingerprint(key: string): Buffer {
  return createHash('sha256').update(key, 'utf8').digest()
}
