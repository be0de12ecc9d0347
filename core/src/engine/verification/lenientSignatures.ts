import { type HashName, SIGNATURE_HEADERS, type SignatureEncoding } from '../providers/index.ts'
import { decodeSignature, trimBlanks } from './byteText.ts'

import type { Evidence } from './evidence.ts'
import type { PreparedScheme } from './prepare.ts'
import { candidatesOf, findSignature, placeName } from './signatures.ts'

/** A signature of the request, read more leniently than the scheme allows. */
export interface LenientSignature {
  readonly bytes: Buffer
  readonly timestamp: string | undefined
  readonly hash: HashName | undefined
  /** Deviation of the notation from the scheme, in words; undefined when there is none. */
  readonly oddity: string | undefined
}

const ENCODINGS: readonly SignatureEncoding[] = ['hex', 'base64', 'base64url']

/** Any word that may precede a signature: `sha256=`, `v1,`, `Bearer `. */
const ANY_PREFIX = /^(?:[A-Za-z][A-Za-z0-9-]{0,30}[=,]|(?:Basic|Bearer|HMAC|Token|sha\d+) )/i

/** The signatures of the request, in the scheme's own place and in other known places. */
export function lenientSignatures({ row }: PreparedScheme, evidence: Evidence): LenientSignature[] {
  const place = row.signature
  const own = findSignature(place, evidence)
  const proper = own === undefined ? [] : candidatesOf(place, own.values)
  // The value itself and its pieces, for a layout that differs from the scheme's.
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

/** A text decoded in every possible encoding, with and without a possible prefix. */
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

/** Joins an oddity and a cause in one sentence; undefined if there is neither. */
export function joined(cause: string | undefined, oddity: string | undefined): string | undefined {
  return cause !== undefined && oddity !== undefined ? `${oddity}, and ${cause}` : (oddity ?? cause)
}
