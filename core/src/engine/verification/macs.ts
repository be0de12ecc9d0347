import { createHash, createHmac, type KeyObject, timingSafeEqual, verify } from 'node:crypto'
import type { HashName, SchemeRow } from '../providers/index.ts'
import type { Key } from './keys.ts'

/** Families of schemes that sign a message. JWTs are left out: they carry their own message. */
export type MessageMac = Exclude<SchemeRow['mac'], 'jwt' | 'fetched'>

/** Whether a signature is right for the message that the matcher was made for. */
export type Matcher = (signature: Uint8Array) => boolean

/**
 * Makes the matcher of a message. The message is hashed here, once, however many signatures are tried: the body may be
 * long.
 *
 * @param pieces hashed one after the other
 */
export function matcherFor(
  mac: MessageMac,
  hash: HashName,
  key: Key,
  pieces: readonly Uint8Array[],
): Matcher {
  if (key.kind === 'public') return (signature) => verifies(mac, hash, key.key, pieces, signature)
  const right = rightBytes(mac, hash, key.bytes, pieces)
  return (signature) => sameBytes(right, signature)
}

function rightBytes(mac: MessageMac, hash: HashName, key: Buffer, pieces: readonly Uint8Array[]): Buffer {
  if (mac === 'token' || mac === 'basic') return key
  const digest = mac === 'hash' ? createHash(hash) : createHmac(hash, key)
  for (const piece of pieces) digest.update(piece)
  return digest.digest()
}

/** Compares in constant time. Tokens may differ in length, too. */
export function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length ? timingSafeEqual(left, right) : false
}

/** Verifies with a public key. A malformed signature is a wrong one, not an error. */
function verifies(
  mac: MessageMac,
  hash: HashName,
  key: KeyObject,
  pieces: readonly Uint8Array[],
  signature: Uint8Array,
): boolean {
  const [first] = pieces
  const message = pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces)
  try {
    return verify(mac === 'ed25519' ? null : hash, message, key, signature)
  } catch {
    return false
  }
}
