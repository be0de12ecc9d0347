import { isTooDeepToIndent, toPlain } from '../json/index.ts'
import { jsonBody } from '../message/index.ts'
import type { HashName } from '../providers/index.ts'
import { decodeBase64Key, decodeHexKey } from './byteText.ts'
import type { Evidence } from './evidence.ts'
import { checkJwt } from './jwt.ts'
import { type Key, keyFor } from './keys.ts'
import { joined, type LenientSignature, lenientSignatures } from './lenientSignatures.ts'
import { type Checking, matchersFor } from './matching.ts'
import type { PreparedScheme, PreparedVerification } from './prepare.ts'
import { urlPieces, withoutPort, withoutQuery, withPort } from './publicUrl.ts'
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
      : messageCause({ scheme, key, evidence }, secret, meter)
  searchBudget.spend(available - meter.left)
  return cause
}

/** Remaining budget of bytes to hash. */
interface Meter {
  left: number
}

/** Tries every suspicion on every group of signatures, as far as the meter allows. */
function messageCause(checking: Checking, secret: string, meter: Meter): string | undefined {
  const { scheme, key, evidence } = checking
  const groups = groupsOf(lenientSignatures(scheme, evidence))
  for (const suspicion of suspicions(scheme, secret, evidence)) {
    const pass = (suspicion.evidence ?? evidence).body.length + PASS_COST_BYTES
    for (const signatures of groups) {
      meter.left -= key.kind === 'public' ? (pass + PUBLIC_KEY_COST_BYTES) * signatures.length : pass
      if (meter.left < 0) return undefined
      const fitting = rightOne(checking, suspicion, signatures)
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
  { scheme, ...usual }: Checking,
  { key = usual.key, evidence = usual.evidence, hash }: Suspicion,
  signatures: readonly LenientSignature[],
): LenientSignature | undefined {
  const [first] = signatures
  if (first === undefined) return undefined
  const matchers = matchersFor({ scheme, key, evidence }, first, hash)
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

/** A body before a change that may have happened between signing and arrival, with the words for a note. */
interface AlteredBody {
  readonly body: Uint8Array
  readonly words: string
}

const utf8 = new TextEncoder()

/** The bodies that the received one may have been when it was signed. */
function* alteredBodies(body: Uint8Array): Generator<AlteredBody> {
  const text = Buffer.from(body).toString('latin1')
  const seen = new Set([text])
  for (const [altered, words] of alterations(text)) {
    if (seen.has(altered)) continue
    seen.add(altered)
    yield { body: Buffer.from(altered, 'latin1'), words }
  }
  for (const { written, words } of jsonWritings(body)) {
    const bytes = utf8.encode(written)
    const name = Buffer.from(bytes).toString('latin1')
    if (!seen.has(name)) yield { body: bytes, words }
    seen.add(name)
  }
}

function* alterations(text: string): Generator<readonly [altered: string, words: string]> {
  yield [text.replace(/\r?\n$/, ''), 'it matches once a trailing newline is removed']
  yield [`${text}\n`, 'it matches with a trailing newline, which was lost on the way']
  yield [`${text}\r\n`, 'it matches with a trailing CRLF, which was lost on the way']
  yield [text.trim(), 'it matches once blanks around the body are removed']
  yield [text.replace(/^\xef\xbb\xbf/, ''), 'it matches once the byte order mark is removed']
  yield [text.replaceAll('\r\n', '\n'), 'it matches with LF line ends in the body']
  yield [text.replace(/\r?\n/g, '\r\n'), 'it matches with CRLF line ends in the body']
  yield ['', 'it matches an empty body: the sender signed before it had the body']
}

const STRING_OR_BLANK = /("[^"\\]*(?:\\.[^"\\]*)*")|[ \t\r\n]+/g
const STRING_OR_SEPARATOR = /("[^"\\]*(?:\\.[^"\\]*)*")|([,:])/g

/**
 * The same JSON as common libraries write it. Only whitespace of the text changes, so that numbers keep their digits.
 */
function* jsonWritings(body: Uint8Array): Generator<{ written: string; words: string }> {
  const { kind, value } = jsonBody({ body, bodyTruncated: false, contentType: null })
  if (kind !== 'json') return
  const words = (style: string) => `it matches the same JSON written ${style}: the body was re-serialised`
  const compact = Buffer.from(body).toString('utf8').replace(STRING_OR_BLANK, '$1')
  const spaced = compact.replace(STRING_OR_SEPARATOR, (_, string, mark) => string ?? `${mark} `)
  const plain = toPlain(value)
  const dense = JSON.stringify(plain)
  yield { written: compact, words: words('compactly') }
  yield { written: spaced, words: words('with a blank after each comma and colon') }
  yield { written: dense, words: words('compactly') }
  if (!isTooDeepToIndent(dense))
    yield { written: JSON.stringify(plain, null, 2), words: words('with indentation') }
  for (const written of [compact, spaced]) {
    yield { written: escapeNonAscii(written), words: words('with \\u escapes') }
    yield { written: escapeNonAscii(written).replaceAll('/', '\\/'), words: words('with escaped slashes') }
  }
  yield { written: compact.replaceAll('\\/', '/'), words: words('without escaped slashes') }
}

function escapeNonAscii(text: string): string {
  return text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** The URLs that the sender may have signed instead of the public one. */
function* alteredUrls(evidence: Evidence): Generator<{ url: string; words: string }> {
  const { url } = evidence
  const pieces = urlPieces(url)
  if (pieces === undefined) return
  const { scheme, authority, path, query } = pieces
  const signed = 'it matches another spelling of the URL: the provider has it'
  const other = scheme === 'https' ? 'http' : 'https'
  yield { url: `${other}://${authority}${path}${query}`, words: `${signed} with ${other}` }
  yield { url: withoutQuery(url), words: `${signed} without the query` }
  yield { url: `${scheme}://${authority}${path}/${query}`, words: `${signed} with a slash at the end` }
  yield {
    url: `${scheme}://${authority}${path.replace(/\/$/, '')}${query}`,
    words: `${signed} without the slash at the end`,
  }
  yield { url: withPort(url), words: `${signed} with the port` }
  yield { url: withoutPort(url), words: `${signed} without the port` }
  const host = evidence.header('host')
  if (host === undefined || host.length > 255) return
  const words = 'it matches the host that the request names, not the public capture URL'
  yield { url: `https://${host}${path}${query}`, words }
  yield { url: `http://${host}${path}${query}`, words }
}
