import { parseForLooks } from '../json/index.ts'
import {
  type BodyKind,
  type BodyOf,
  bodyKind,
  bodyStructure,
  hasTooManyFields,
  isTooDeep,
} from './bodyFormat.ts'

const PERCENT = 0x25
const PLUS = 0x2b
const SPACE = 0x20

/**
 * Decodes one component of a query or form: `+` is a space, a bad escape stays as written. Goes byte by byte, since
 * `replace` takes a second for millions of escapes.
 */
export function decodeComponent(text: string): string {
  if (!text.includes('+') && !text.includes('%')) return text
  const bytes = Buffer.from(text)
  let to = 0
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at] ?? 0
    let escapes = byte === PERCENT ? escapesAt(bytes, at) : 0
    if (escapes === 0) {
      bytes[to] = byte === PLUS ? SPACE : byte
      at += 1
      to += 1
    }
    // The result is never longer than what was read of the same buffer.
    for (; escapes > 0; escapes -= 1) {
      bytes[to] = escapedByte(bytes, at)
      at += 3
      to += 1
    }
  }
  return bytes.toString('utf8', 0, to)
}

/**
 * Number of escapes that make up the character at a position. 0 unless it is well formed as in Unicode table 3-7, so that
 * a bad escape spoils no neighbours.
 */
function escapesAt(bytes: Uint8Array, at: number): number {
  const lead = escapedByte(bytes, at)
  if (lead < 0x80) return lead < 0 ? 0 : 1
  const count = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0
  for (let index = 1; index < count; index += 1) {
    const byte = escapedByte(bytes, at + 3 * index)
    const least = index === 1 ? (LEAST_SECOND.get(lead) ?? 0x80) : 0x80
    const most = index === 1 ? (MOST_SECOND.get(lead) ?? 0xbf) : 0xbf
    if (byte < least || byte > most) return 0
  }
  return count
}

/** Bounds of the second byte after some lead bytes: no overlong forms, no surrogates, nothing above U+10FFFF. */
const LEAST_SECOND: ReadonlyMap<number, number> = new Map([
  [0xe0, 0xa0],
  [0xf0, 0x90],
])
const MOST_SECOND: ReadonlyMap<number, number> = new Map([
  [0xed, 0x9f],
  [0xf4, 0x8f],
])

/** The byte of the escape at a position; negative if there is none. */
function escapedByte(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== PERCENT) return -1
  const high = digitOf(bytes[at + 1])
  const low = digitOf(bytes[at + 2])
  return high < 0 || low < 0 ? -1 : high * 16 + low
}

/** Value of a hexadecimal digit; -1 for another byte. */
function digitOf(byte: number | undefined): number {
  if (byte === undefined) return -1
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

/**
 * The pairs of a query string or of an `application/x-www-form-urlencoded` body, decoded, in wire order,
 * repeats kept: `+` is a space, a bad escape stays as written, a name without `=` has the
 * value `''`; empty pieces (`a=1&&b=2`) are skipped. Never throws.
 *
 * @param text without a leading `?`
 */
export function urlEncodedPairs(text: string): [name: string, value: string][] {
  const pairs: [string, string][] = []
  for (const piece of text.split('&')) if (piece !== '') pairs.push(urlEncodedPair(piece))
  return pairs
}

/** One pair of {@link urlEncodedPairs}. */
export function urlEncodedPair(piece: string): [name: string, value: string] {
  const equals = piece.indexOf('=')
  if (equals < 0) return [decodeComponent(piece), '']
  return [decodeComponent(piece.slice(0, equals)), decodeComponent(piece.slice(equals + 1))]
}

/** Longer bodies are not parsed on the capture path. */
export const PARSED_BODY_BYTES_MAX = 1_048_576

/** A form body: a name's value, or all its values in wire order when it is repeated. Has no prototype. */
export type FormValue = Readonly<Record<string, string | readonly string[]>>

/** The body of a request after parsing, for conditions, labels and watchdogs. */
export type ParsedBody =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'form'; readonly value: FormValue }
  | { readonly kind: 'none'; readonly value: undefined }

const NONE: ParsedBody = { kind: 'none', value: undefined }

interface Parsed {
  readonly body: Uint8Array
  /** The text that was parsed as JSON. */
  text?: string
  json?: ParsedBody | undefined
  form?: ParsedBody
}

/**
 * The two bodies that were read last. A request is evaluated without interruption, so they are its own body and at most
 * one that a field of it contains. A map of all bodies cost as much as parsing one.
 *
 * The key is the bytes, not the request: an evaluated request is another object with the same body.
 */
let latest: Parsed | undefined
let latestButOne: Parsed | undefined

function parsedOf(body: Uint8Array): Parsed {
  if (latest?.body === body) return latest
  const known = latestButOne?.body === body ? latestButOne : { body }
  latestButOne = latest
  latest = known
  return known
}

function isParsable(request: BodyOf): boolean {
  return !request.bodyTruncated && request.body.length > 0 && request.body.length <= PARSED_BODY_BYTES_MAX
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function parseJson(parsed: Parsed): ParsedBody {
  if (isTooDeep(parsed.body)) return NONE
  try {
    parsed.text = utf8.decode(parsed.body)
  } catch {
    return NONE
  }
  const read = parseForLooks(parsed.text)
  return read === undefined ? NONE : { kind: 'json', value: read.value }
}

function parseForm(bytes: Uint8Array): ParsedBody {
  if (hasTooManyFields(bytes)) return NONE
  const value: Record<string, string | string[]> = Object.create(null)
  for (const [name, text] of urlEncodedPairs(new TextDecoder().decode(bytes))) {
    const earlier = value[name]
    if (earlier === undefined) value[name] = text
    else if (typeof earlier === 'string') value[name] = [earlier, text]
    else earlier.push(text)
  }
  return { kind: 'form', value }
}

/**
 * The body read as JSON whatever its content type says, for senders that mislabel theirs: kind `json` or
 * `none`. Parsed at most once a capture, together with {@link parsedBody}. Never throws.
 */
export function jsonBody(request: BodyOf): ParsedBody {
  if (!isParsable(request)) return NONE
  const parsed = parsedOf(request.body)
  parsed.json ??= parseJson(parsed)
  return parsed.json
}

/**
 * {@link jsonBody} for a caller that changes the value: later readers of the body parse it again.
 *
 * @returns the value, and the text without a byte order mark; undefined if the body is not JSON
 */
export function takeJson(request: BodyOf): { readonly value: unknown; readonly text: string } | undefined {
  const json = jsonBody(request)
  if (json.kind !== 'json') return undefined
  const parsed = parsedOf(request.body)
  parsed.json = undefined
  return parsed.text === undefined ? undefined : { value: json.value, text: parsed.text }
}

/** Keeps the JSON value that a body was written from, so that its readers need not parse it. It is not changed later. */
export function keepJson(body: Uint8Array, value: unknown): void {
  parsedOf(body).json = { kind: 'json', value }
}

/** The body read as `application/x-www-form-urlencoded` whatever its content type says. Never throws. */
export function formBody(request: BodyOf): ParsedBody {
  if (!isParsable(request)) return NONE
  const parsed = parsedOf(request.body)
  parsed.form ??= parseForm(request.body)
  return parsed.form
}

/**
 * The body for paths that lead into it, of the kind that `bodyStructure` decides, parsed lazily and at most once a
 * capture. `none` for a body that is neither JSON nor a form, and for oversize traces, empty bodies, JSON deeper than
 * 256 and bodies longer than {@link PARSED_BODY_BYTES_MAX}. The last of duplicate keys counts, and `__proto__` is an
 * ordinary key.
 *
 * Never throws. The value is shared and must not be changed.
 */
export function parsedBody(request: BodyOf): ParsedBody {
  if (!isParsable(request)) return NONE
  const structure = bodyStructure(request, () => {
    const parsed = jsonBody(request)
    return parsed.kind === 'json' ? parsed : undefined
  })
  if (structure.kind === 'json') return structure.json
  return structure.kind === 'form' ? formBody(request) : NONE
}

/** Kind of a body, for display; JSON over {@link PARSED_BODY_BYTES_MAX} is text. Null when it is empty. */
export function kindOfBody(request: BodyOf): BodyKind | null {
  return bodyKind(request, () => (jsonBody(request).kind === 'json' ? true : undefined))
}

/** The most parts that are read: a form that is signed has few. */
const PARTS_MAX = 100
const HEAD_BYTES_MAX = 4096
const HEAD_END = Buffer.from('\r\n\r\n')

/** RFC 2046 §5.1.1: the characters of a boundary, quoted or not. */
const BOUNDARY = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i

/**
 * The text fields of a `multipart/form-data` body, in wire order; parts with a file name are skipped. Bytes that
 * are not multipart have no fields. Linear in the length of the body; never throws.
 *
 * @param contentType with its `boundary` parameter
 */
export function multipartFields(contentType: string, body: Uint8Array): [name: string, value: string][] {
  const boundary = BOUNDARY.exec(contentType)
  const name = boundary?.[1] ?? boundary?.[2]
  if (name === undefined) return []
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const delimiter = Buffer.from(`--${name}`)
  const fields: [string, string][] = []
  let start = bytes.indexOf(delimiter)
  for (let part = 0; start >= 0 && part < PARTS_MAX; part += 1) {
    const from = start + delimiter.length
    const end = bytes.indexOf(delimiter, from)
    if (end < 0) break
    const field = fieldOf(bytes.subarray(from, end))
    if (field !== undefined) fields.push(field)
    start = end
  }
  return fields
}

/** The field that a part of `multipart/form-data` is for, by its header lines. */
export function partName(head: string): string | undefined {
  return /;\s*name="([^"]*)"/i.exec(head)?.[1] ?? /;\s*name=([^\s;"]+)/i.exec(head)?.[1]
}

/** A part: CRLF, its header lines, an empty line, the value, CRLF. */
function fieldOf(part: Buffer): [name: string, value: string] | undefined {
  const headEnd = part.subarray(0, HEAD_BYTES_MAX).indexOf(HEAD_END)
  if (headEnd < 0) return undefined
  const head = part.toString('utf8', 0, headEnd)
  if (/;\s*filename\*?=/i.test(head)) return undefined
  const name = partName(head)
  if (name === undefined) return undefined
  const valueEnd = part.subarray(-2).equals(Buffer.from('\r\n')) ? part.length - 2 : part.length
  return [
    name,
    part.toString('utf8', headEnd + HEAD_END.length, Math.max(valueEnd, headEnd + HEAD_END.length)),
  ]
}
