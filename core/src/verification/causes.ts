import { type HashName, SIGNATURE_HEADERS, type SignatureEncoding } from '../providers/index.ts'
import { alteredBodies, alteredUrls } from './alterations.ts'
import { trimBlanks } from './byteText.ts'
import { decodeBase64Key, decodeHexKey, decodeSignature } from './encodings.ts'
import type { Evidence } from './evidence.ts'
import { checkJwt } from './jwt.ts'
import { type Key, keyFor } from './keys.ts'
import { matchersFor } from './matching.ts'
import type { PreparedScheme, PreparedVerification } from './prepare.ts'
import { candidatesOf, findSignature, placeName } from './signatures.ts'

/**
 * Looking for the cause of a mismatch hashes the body again and again. No body is longer than this, and no more than
 * this is hashed in all, so that a sender of bad signatures cannot slow captures down.
 */
const BODY_BYTES_MAX = 65_536
const HASHED_BYTES_MAX = 1_048_576

/** What one pass and one public-key check cost besides the body, in hashed bytes. */
const PASS_COST_BYTES = 1024
const PUBLIC_KEY_COST_BYTES = 65_536

/** A signature of the request, read more leniently than the scheme allows. */
interface LenientSignature {
  readonly bytes: Buffer
  readonly timestamp: string | undefined
  readonly hash: HashName | undefined
  /** What is unlike the scheme in how it is written; undefined when nothing is. */
  readonly oddity: string | undefined
}

/** One change to what the scheme says, and the words for it. */
interface Suspicion {
  readonly cause: string | undefined
  readonly key?: Key
  readonly hash?: HashName
  readonly evidence?: Evidence
}

/**
 * Why a signature does not match, when a known mistake explains it: each is tried until one makes it match.
 *
 * @returns words that go on after "…does not match: "; undefined when no mistake fits
 */
export function likelyCause(
  { settings, searchBudget }: PreparedVerification,
  scheme: PreparedScheme,
  evidence: Evidence,
): string | undefined {
  const secret = settings.signingSecret
  const { key } = scheme
  if (secret === null || 'problem' in key || evidence.body.length > BODY_BYTES_MAX) return undefined
  const available = Math.min(HASHED_BYTES_MAX, searchBudget.available(evidence.request.receivedAt))
  const meter = { left: available }
  const cause =
    scheme.row.mac === 'jwt'
      ? jwtCause(scheme, secret, evidence, meter)
      : messageCause(scheme, key, secret, evidence, meter)
  searchBudget.spend(available - meter.left)
  return cause
}

/** Bytes that may still be hashed. */
interface Meter {
  left: number
}

/** Tries every suspicion on every group of signatures, as far as the meter allows. */
function messageCause(
  scheme: PreparedScheme,
  key: Key,
  secret: string,
  evidence: Evidence,
  meter: Meter,
): string | undefined {
  const groups = groupsOf(lenientSignatures(scheme, evidence))
  const pass = evidence.body.length + PASS_COST_BYTES
  for (const suspicion of suspicions(scheme, key, secret, evidence)) {
    for (const signatures of groups) {
      meter.left -= key.kind === 'public' ? (pass + PUBLIC_KEY_COST_BYTES) * signatures.length : pass
      if (meter.left < 0) return undefined
      const fitting = rightOne(scheme, suspicion.key ?? key, suspicion, signatures, evidence)
      if (fitting !== undefined) return joined(suspicion.cause, fitting.oddity)
    }
  }
  return undefined
}

/** Signatures of one timestamp and digest are over the same message, which is then hashed once for all of them. */
function groupsOf(signatures: readonly LenientSignature[]): readonly (readonly LenientSignature[])[] {
  return [...Map.groupBy(signatures, ({ timestamp, hash }) => `${hash} ${timestamp}`).values()]
}

function rightOne(
  scheme: PreparedScheme,
  key: Key,
  suspicion: Suspicion,
  signatures: readonly LenientSignature[],
  evidence: Evidence,
): LenientSignature | undefined {
  const [first] = signatures
  if (first === undefined) return undefined
  const matchers = matchersFor(scheme, key, first, suspicion.evidence ?? evidence, suspicion.hash)
  if ('missing' in matchers) return undefined
  return signatures.find(({ bytes }) => matchers.some((matches) => matches(bytes)))
}

function joined(cause: string | undefined, oddity: string | undefined): string | undefined {
  return cause !== undefined && oddity !== undefined ? `${oddity}, and ${cause}` : (oddity ?? cause)
}

const ENCODINGS: readonly SignatureEncoding[] = ['hex', 'base64', 'base64url']

/** Any word that stands before signatures: `sha256=`, `v1,`, `Bearer `. */
const ANY_PREFIX = /^(?:[A-Za-z][A-Za-z0-9-]{0,30}[=,]|(?:Basic|Bearer|HMAC|Token|sha\d+) )/i

/** The signatures of the request, in the scheme's own place and in others where signatures are known to stand. */
function lenientSignatures({ row }: PreparedScheme, evidence: Evidence): LenientSignature[] {
  const place = row.signature
  const own = findSignature(place, evidence)
  const proper = own === undefined ? [] : candidatesOf(place, own.values)
  const misread = (own?.values ?? [])
    .filter((value) => value !== undefined)
    .slice(0, 2)
    .flatMap((value) => [value, ...value.split(/[ ,]+/, 3)])
    .map((text) => ({ text, timestamp: proper[0]?.timestamp, hash: undefined }))
  const here = [...proper, ...misread].flatMap(({ text, timestamp, hash }, index) =>
    readings(text, place.encoding, index < proper.length ? '' : (place.prefix ?? '')).map((reading) => ({
      ...reading,
      timestamp,
      hash,
    })),
  )
  const elsewhere = evidence.request.headers
    .filter(
      ([name]) =>
        SIGNATURE_HEADERS.has(name.toLowerCase()) && name.toLowerCase() !== place.name?.toLowerCase(),
    )
    .slice(0, 3)
    .flatMap(([name, value]) =>
      readings(trimBlanks(value), place.encoding, '').map(({ bytes }) => ({
        bytes,
        timestamp: proper[0]?.timestamp,
        hash: undefined,
        oddity: `it matches what stands in ${name}, not in ${placeName(place)}`,
      })),
    )
  return distinct([...here, ...elsewhere]).slice(0, 16)
}

function distinct(signatures: readonly LenientSignature[]): LenientSignature[] {
  const seen = new Set<string>()
  return signatures.filter(({ bytes, hash, timestamp }) => {
    const name = `${bytes.toString('hex')} ${hash} ${timestamp}`
    return seen.has(name) ? false : seen.add(name)
  })
}

/** A text in every encoding that it can be read in, with and without what may be a prefix. */
function readings(
  text: string,
  encoding: SignatureEncoding,
  prefix: string,
): Pick<LenientSignature, 'bytes' | 'oddity'>[] {
  const bare = text.replace(ANY_PREFIX, '')
  const spellings = bare === text ? [text] : [text, bare]
  const encodings = encoding === 'plain' ? (['plain'] as const) : new Set([encoding, ...ENCODINGS])
  return spellings.flatMap((spelling) =>
    [...encodings].flatMap((tried) => {
      const bytes = decodeSignature(spelling, tried)
      if (bytes === undefined) return []
      const prefixOddity = oddPrefix(text.slice(0, text.length - spelling.length), prefix)
      const encodingOddity =
        tried === encoding ? undefined : `the signature is written in ${tried}, not in ${encoding}`
      return [{ bytes, oddity: joined(encodingOddity, prefixOddity) }]
    }),
  )
}

function oddPrefix(found: string, expected: string): string | undefined {
  if (found === expected) return undefined
  if (found === '') return `the header lacks the "${expected.trim()}" prefix`
  const instead = expected === '' ? 'where none is expected' : `instead of "${expected.trim()}"`
  return `the header has the prefix "${found.trim()}" ${instead}`
}

const HASHES = ['sha256', 'sha1', 'sha512'] as const

/** The known mistakes, the likeliest and cheapest first. The first suspicion is that only the writing is odd. */
function* suspicions(
  scheme: PreparedScheme,
  key: Key,
  secret: string,
  evidence: Evidence,
): Generator<Suspicion> {
  yield { cause: undefined }
  yield* otherKeys(scheme, secret)
  for (const { body, words } of alteredBodies(evidence.body)) {
    yield { cause: words, evidence: evidence.with({ body }) }
  }
  if (key.kind === 'secret' && scheme.row.mac === 'hmac') {
    for (const hash of HASHES) {
      if (hash !== scheme.row.hash) yield { cause: `it is made with ${hash}, not ${scheme.row.hash}`, hash }
    }
  }
  if (scheme.signsUrl) {
    for (const { url, words } of alteredUrls(evidence))
      yield { cause: words, evidence: evidence.with({ url }) }
  }
}

/** Ways in which people store a secret that is almost the right one. */
function* otherKeys({ row }: PreparedScheme, secret: string): Generator<Suspicion> {
  const used = keyFor(row, secret)
  if ('problem' in used || used.kind === 'public') return
  const bare = secret.trim()
  const unprefixed = bare.replace(/^whsec_/, '')
  const alternatives: readonly (readonly [Buffer | undefined, string])[] = [
    [keyBytes(row, bare), 'it matches once the blanks around the signing secret are removed'],
    [decodeBase64Key(unprefixed), 'it matches once the signing secret is base64-decoded'],
    [decodeHexKey(bare), 'it matches once the signing secret is hex-decoded'],
    [Buffer.from(bare), 'it matches once the signing secret is used as it is written, not decoded'],
    [Buffer.from(unprefixed), 'it matches once whsec_ is taken off the signing secret'],
    [
      Buffer.from(`${bare}\n`),
      'it matches with a line end after the signing secret: the sender has one too many',
    ],
    [
      row.testSecret === undefined ? undefined : Buffer.from(row.testSecret),
      "it is signed with the provider's public test secret",
    ],
  ]
  for (const [bytes, cause] of alternatives) {
    if (bytes !== undefined && !bytes.equals(used.bytes)) yield { cause, key: { kind: 'secret', bytes } }
  }
}

function keyBytes(row: PreparedScheme['row'], secret: string): Buffer | undefined {
  const key = keyFor(row, secret)
  return 'problem' in key || key.kind === 'public' ? undefined : key.bytes
}

function jwtCause(
  scheme: PreparedScheme,
  secret: string,
  evidence: Evidence,
  meter: Meter,
): string | undefined {
  const found = findSignature(scheme.row.signature, evidence)
  const token = candidatesOf(scheme.row.signature, found?.values ?? [])[0]?.text
  if (token === undefined) return undefined
  for (const { cause, key } of otherKeys(scheme, secret)) {
    meter.left -= evidence.body.length + token.length + PASS_COST_BYTES
    if (key === undefined || meter.left < 0) continue
    const { kind } = checkJwt(scheme.row, key, token, evidence.body, evidence.request.receivedAt)
    if (kind === 'matches') return cause
  }
  return undefined
}
