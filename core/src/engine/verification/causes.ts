import type { HashName } from '../providers/index.ts'
import { alteredBodies, alteredUrls } from './alterations.ts'
import { decodeBase64Key, decodeHexKey } from './byteText.ts'
import type { Evidence } from './evidence.ts'
import { checkJwt } from './jwt.ts'
import { type Key, keyFor } from './keys.ts'
import { joined, type LenientSignature, lenientSignatures } from './lenientSignatures.ts'
import { matchersFor } from './matching.ts'
import type { PreparedScheme, PreparedVerification } from './prepare.ts'
import { candidatesOf, findSignature } from './signatures.ts'

/**
 * The search for the cause of a mismatch hashes the body many times. Longer bodies are not searched, and the bytes
 * hashed in all are limited, so that a sender of bad signatures cannot slow captures down.
 */
const BODY_BYTES_MAX = 65_536
const HASHED_BYTES_MAX = 1_048_576

/** Cost of one pass, and of one public-key check, in addition to the body, in hashed bytes. */
const PASS_COST_BYTES = 1024
const PUBLIC_KEY_COST_BYTES = 65_536

/** One possible mistake: a change to the check, and the words for it. */
interface Suspicion {
  readonly cause: string | undefined
  readonly key?: Key
  readonly hash?: HashName
  readonly evidence?: Evidence
}

/**
 * Finds the known mistake that explains why a signature does not match. Each is tried until one makes it match.
 *
 * @returns words that continue "…does not match: "; undefined when no mistake fits
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

/** Remaining budget of bytes to hash. */
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
  for (const suspicion of suspicions(scheme, secret, evidence)) {
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

const HASHES = ['sha256', 'sha1', 'sha512'] as const

/** The known mistakes, the likeliest and cheapest first. First, only the notation of the signature may be wrong. */
function* suspicions(scheme: PreparedScheme, secret: string, evidence: Evidence): Generator<Suspicion> {
  yield { cause: undefined }
  yield* otherKeys(scheme, secret)
  for (const { body, words } of alteredBodies(evidence.body)) {
    yield { cause: words, evidence: evidence.with({ body }) }
  }
  if (scheme.row.mac === 'hmac' && scheme.row.hash !== 'from-prefix') {
    for (const hash of HASHES) {
      if (hash !== scheme.row.hash) yield { cause: `it is made with ${hash}, not ${scheme.row.hash}`, hash }
    }
  }
  if (scheme.signsUrl) {
    for (const { url, words } of alteredUrls(evidence))
      yield { cause: words, evidence: evidence.with({ url }) }
  }
}

/** Common mistakes in a stored secret. */
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
