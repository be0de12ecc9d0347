import type { HashName, SignaturePlace } from '../providers/index.ts'
import { trimBlanks } from './byteText.ts'
import type { Evidence } from './evidence.ts'

/** The most signatures of one request that are read by default: rotation needs two or three. */
const CANDIDATES_MAX = 10

/** The most groups that are read: each has its own timestamp and so its own pass over the body. */
const GROUPS_MAX = 3

/** One signature of a request, without prefix and key, not yet decoded. */
export interface Candidate {
  readonly text: string
  /** The timestamp in the same value, if any. */
  readonly timestamp: string | undefined
  /** The digest that its prefix names, if any. */
  readonly hash: HashName | undefined
  /** The place of this signature, when there are several places. */
  readonly where?: string
}

/** The values at a signature's place. */
export interface FoundSignature {
  /** The place in words: `Stripe-Signature`, `the form field bt_signature`. */
  readonly where: string
  /** The values, unchanged; undefined for an element without one (`value[*].clientState`). */
  readonly values: readonly (string | undefined)[]
  /** For headers that differ by a number: the name of each, as it was sent. */
  readonly names?: readonly string[]
}

/** Reads the place of a scheme's signature; undefined when it is empty. */
export function findSignature(place: SignaturePlace, evidence: Evidence): FoundSignature | undefined {
  const found =
    place.in === 'header' && place.numberedName !== undefined
      ? inNumbered(place.numberedName, evidence)
      : { where: placeName(place), values: valuesOf(place, evidence) }
  const isSigned = found.values.some((value) => value !== undefined && value !== place.unsignedValue)
  return isSigned ? found : undefined
}

function inNumbered(prefix: string, evidence: Evidence): FoundSignature {
  const headers = evidence.numberedHeaders(prefix)
  const names = headers.map(([name]) => name)
  return { where: names.join(', '), values: headers.map(([, value]) => value), names }
}

function valuesOf(place: SignaturePlace, evidence: Evidence): (string | undefined)[] {
  const name = place.name ?? ''
  const path = place.path ?? ''
  switch (place.in) {
    case 'header':
      return evidence.headers(name)
    case 'query':
      return [evidence.query(name)]
    case 'body':
      return evidence.jsonTexts(path)
    case 'form':
      return [evidence.field(name)]
    case 'formjson':
      return [evidence.fieldJsonText(name, path)]
    case 'rawbody': {
      const text = Buffer.from(evidence.body).toString('latin1').trim()
      return [text === '' ? undefined : text]
    }
  }
}

/** The place of a signature in words that fit into a note. */
export function placeName(place: SignaturePlace): string {
  switch (place.in) {
    case 'header':
      return place.name ?? `${place.numberedName ?? ''}1`
    case 'query':
      return `the query parameter ${place.name}`
    case 'body':
      return `body.${place.path}`
    case 'form':
      return `the form field ${place.name}`
    case 'formjson':
      return `${place.path} in the form field ${place.name}`
    case 'rawbody':
      return 'the body'
  }
}

/**
 * The signatures in the values that were found: several while a secret is rotated, none when the value does not have
 * the documented form (its prefix or its key is missing).
 */
export function candidatesOf(
  place: SignaturePlace,
  values: readonly (string | undefined)[],
  limit = CANDIDATES_MAX,
  names: readonly string[] = [],
): Candidate[] {
  const found: Candidate[] = []
  let looked = 0
  for (const [index, value] of values.entries()) {
    if (value === undefined) continue
    looked += 1
    if (looked > limit) break
    const where = names[index]
    for (const candidate of candidatesIn(place, value)) {
      if (found.length < limit) found.push(where === undefined ? candidate : { ...candidate, where })
    }
  }
  return found
}

function candidatesIn(place: SignaturePlace, value: string): Candidate[] {
  switch (place.parse) {
    case 'raw':
      return withoutPrefix(place, value)
    case 'list':
      return itemsOf(value, place.pairSep).flatMap((item) => withoutPrefix(place, item))
    case 'kv':
      return inPairs(place, value)
    case 'kvgroups':
      return itemsOf(value, place.groupSep)
        .slice(0, GROUPS_MAX)
        .flatMap((group) => inPairs(place, group))
    case 'positional': {
      const [timestamp, ...signatures] = itemsOf(value, place.pairSep)
      return signatures.map((text) => ({ text, timestamp, hash: undefined }))
    }
  }
}

function itemsOf(value: string, separator = ','): string[] {
  if (!value.includes(separator)) return [trimBlanks(value)]
  return value.split(separator, CANDIDATES_MAX * 4).map(trimBlanks)
}

function withoutPrefix(place: SignaturePlace, text: string): Candidate[] {
  if (place.prefixHash !== undefined) {
    for (const [prefix, hash] of Object.entries(place.prefixHash)) {
      if (text.startsWith(prefix)) return [{ text: text.slice(prefix.length), timestamp: undefined, hash }]
    }
    return []
  }
  const prefix = place.prefix ?? ''
  if (startsWithPrefix(text, prefix)) {
    return [{ text: trimBlanks(text.slice(prefix.length)), timestamp: undefined, hash: undefined }]
  }
  return place.prefixOptional === true ? [{ text, timestamp: undefined, hash: undefined }] : []
}

/** Whether a text starts with a prefix. Only for the scheme of an `Authorization` value (`Basic `) is case ignored. */
function startsWithPrefix(text: string, prefix: string): boolean {
  if (!prefix.endsWith(' ')) return text.startsWith(prefix)
  return text.slice(0, prefix.length).toLowerCase() === prefix.toLowerCase()
}

function inPairs(place: SignaturePlace, value: string): Candidate[] {
  const pairs = itemsOf(value, place.pairSep).map((item) => pairOf(item, place.kvSep ?? '='))
  const timestamp = pairs.find(([key]) => key === place.timestampKey)?.[1]
  const keys = place.keys ?? []
  return pairs
    .filter(([key, text]) => text !== undefined && (keys.includes('*') || keys.includes(key)))
    .map(([, text]) => ({ text: text ?? '', timestamp, hash: undefined }))
}

/** Splits at the first separator only: base64 ends in `=`. */
function pairOf(item: string, separator: string): [key: string, text: string | undefined] {
  const at = item.indexOf(separator)
  return at < 0 ? [item, undefined] : [item.slice(0, at), item.slice(at + separator.length)]
}
