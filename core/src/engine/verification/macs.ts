import { createHash, createHmac, type KeyObject, timingSafeEqual, verify } from 'node:crypto'
import type { HashName, SchemeRow } from '../providers/index.ts'
import type { Key } from './keys.ts'

/** The families whose signature is right or wrong for a message. JWTs carry their own. */
export type MessageMac = Exclude<SchemeRow['mac'], 'jwt' | 'fetched'>

/** Says whether a signature is right for the one message that the matcher was made for. */
export type Matcher = (signature: Uint8Array) => boolean

/**
 * Makes the matcher of a message. What can be computed from the message is computed here, once, however many
 * signatures are tried: the body may be long.
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

/** Equality whose time says nothing of where two values differ. Tokens may differ in length as well. */
export function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length ? timingSafeEqual(left, right) : false
}

/** Malformed signatures are wrong ones, not faults. */
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
