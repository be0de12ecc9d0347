import { createHash, createHmac, type KeyObject, timingSafeEqual, verify } from 'node:crypto'
import type { HashName, SchemeRow } from '../providers/index.ts'
import { decodeSignature } from './byteText.ts'
import { isChallengeMessage } from './challenges.ts'
import type { Evidence } from './evidence.ts'
import type { Key } from './keys.ts'
import type { PreparedScheme } from './prepare.ts'
import { withoutPort, withPort } from './publicUrl.ts'
import type { Candidate } from './signatures.ts'
import { timestampName, timestampText } from './timestamps.ts'

/** Families of schemes that sign a message. JWTs are left out: they carry their own message. */
type MessageMac = Exclude<SchemeRow['mac'], 'jwt' | 'fetched'>

/** Whether a signature is right for the message that the matcher was made for. */
type Matcher = (signature: Uint8Array) => boolean

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

/** The missing part of a request without which its signature cannot be checked, in words. */
export interface Missing {
  readonly missing: string
}

/** A check's scheme, its key, and the evidence from the request. */
export interface Checking {
  readonly scheme: PreparedScheme
  readonly key: Key
  readonly evidence: Evidence
}

/**
 * Matches the candidates of a request. Candidates of one timestamp share their messages.
 *
 * @returns takes a candidate; returns whether it is right, or the part of the request that is missing
 */
export function candidateMatcher(checking: Checking): (candidate: Candidate) => boolean | Missing {
  const { encoding } = checking.scheme.row.signature
  const known: { readonly of: Candidate; readonly matchers: readonly Matcher[] | Missing }[] = []
  const matchersOf = (candidate: Candidate) => {
    const same = known.find(({ of }) => of.hash === candidate.hash && of.timestamp === candidate.timestamp)
    if (same !== undefined) return same.matchers
    const matchers = matchersFor(checking, candidate)
    known.push({ of: candidate, matchers })
    return matchers
  }
  return (candidate) => {
    const matchers = matchersOf(candidate)
    if ('missing' in matchers) return matchers
    const signature = decodeSignature(candidate.text, encoding)
    return signature !== undefined && matchers.some((matches) => matches(signature))
  }
}

/**
 * A matcher for every message that may have been signed: templates times spellings of the URL.
 *
 * @param hash instead of the scheme's own
 */
export function matchersFor(
  { scheme, key, evidence }: Checking,
  candidate: Pick<Candidate, 'timestamp' | 'hash'>,
  hash: HashName = hashOf(scheme.row, candidate),
): readonly Matcher[] | Missing {
  const { mac } = scheme.row
  if (mac === 'jwt' || mac === 'fetched') return []
  const timestamp = timestampText(scheme.row.timestamp, candidate, evidence)
  const secret = key.kind === 'secret' ? key.bytes : undefined
  const matchers: Matcher[] = []
  for (const variant of urlVariants(scheme.row, evidence)) {
    for (const template of scheme.messages) {
      const message = template({ scheme: scheme.row, evidence: variant, timestamp, secret })
      if ('missing' in message) return { missing: missingName(scheme.row, message.missing) }
      if (scheme.signedForAnybody && isChallengeMessage(message.pieces, scheme.signedForAnybody))
        matchers.push(() => false)
      else matchers.push(matcherFor(mac, hash, key, message.pieces))
    }
  }
  return matchers
}

function missingName({ timestamp }: SchemeRow, missing: string): string {
  return missing === 'timestamp' && timestamp !== undefined ? timestampName(timestamp) : missing
}

function urlVariants({ urlVariants }: SchemeRow, evidence: Evidence): readonly Evidence[] {
  if (urlVariants === undefined) return [evidence]
  const urls = new Set(
    urlVariants.map((variant) => {
      if (variant === 'with-port') return withPort(evidence.url)
      return variant === 'without-port' ? withoutPort(evidence.url) : evidence.url
    }),
  )
  return [...urls].map((url) => (url === evidence.url ? evidence : evidence.with({ url })))
}

/** The digest of a signature: that of the scheme, or the one that its prefix names. */
function hashOf({ hash }: SchemeRow, candidate: Pick<Candidate, 'hash'>): HashName {
  if (candidate.hash !== undefined) return candidate.hash
  return hash === undefined || hash === 'from-prefix' ? 'sha256' : hash
}
