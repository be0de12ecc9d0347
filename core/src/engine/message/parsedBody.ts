import { numberFromText } from '../json/index.ts'
import type { CapturedRequest } from './capturedRequest.ts'
import { urlEncodedPairs } from './urlEncoded.ts'

/** Longer bodies are not parsed on the capture path (CONTRACT R18). */
export const PARSED_BODY_BYTES_MAX = 1_048_576

/** JSON nested deeper is not parsed on the capture path (CONTRACT R18); `[]` has depth 1. */
export const PARSED_BODY_DEPTH_MAX = 256

/** A form body: a name's value, or all its values in wire order when it is repeated. Has no prototype. */
export type FormValue = Readonly<Record<string, string | readonly string[]>>

/** What the body of a request holds, for conditions, labels and watchdogs. */
export type ParsedBody =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'form'; readonly value: FormValue }
  | { readonly kind: 'none'; readonly value: undefined }

/** What parsing needs to know of a request. */
type BodyOf = Pick<CapturedRequest, 'body' | 'bodyTruncated' | 'contentType'>

const NONE: ParsedBody = { kind: 'none', value: undefined }

interface Parsed {
  json?: ParsedBody
  form?: ParsedBody
}

/** Keyed by the bytes, not by the request: a request that was evaluated is another object with the same body. */
const parsedBodies = new WeakMap<Uint8Array, Parsed>()

function parsedOf(body: Uint8Array): Parsed {
  const known = parsedBodies.get(body)
  if (known !== undefined) return known
  const fresh: Parsed = {}
  parsedBodies.set(body, fresh)
  return fresh
}

function isParsable(request: BodyOf): boolean {
  return !request.bodyTruncated && request.body.length > 0 && request.body.length <= PARSED_BODY_BYTES_MAX
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Counts brackets outside of strings, so that the parser is never handed what would exhaust its stack. */
function isTooDeep(bytes: Uint8Array): boolean {
  let depth = 0
  let inString = false
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index]
    if (byte === QUOTE) inString = !inString
    else if (inString) {
      if (byte === BACKSLASH) index += 1
    } else if (byte === 0x5b || byte === 0x7b) {
      depth += 1
      if (depth > PARSED_BODY_DEPTH_MAX) return true
    } else if (byte === 0x5d || byte === 0x7d) depth -= 1
  }
  return false
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** A run of digits that a double may not hold, as in `9007199254740993`; fractions may too, and then cost nothing. */
const LONG_NUMBER = /\d{16}/

/** `JSON.parse`, except that a number which a double would print differently is a `JsonNumber`, in bodies with long ones. */
function exactJson(text: string): unknown {
  if (!LONG_NUMBER.test(text)) return JSON.parse(text)
  const keepDigits = (_name: string, value: unknown, context: { source?: string }): unknown =>
    typeof value === 'number' && context.source !== undefined ? numberFromText(context.source) : value
  return JSON.parse(text, keepDigits)
}

function parseJson(bytes: Uint8Array): ParsedBody {
  if (isTooDeep(bytes)) return NONE
  try {
    return { kind: 'json', value: exactJson(utf8.decode(bytes)) }
  } catch {
    return NONE
  }
}

function parseForm(bytes: Uint8Array): ParsedBody {
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
  parsed.json ??= parseJson(request.body)
  return parsed.json
}

/** The body read as `application/x-www-form-urlencoded` whatever its content type says. Never throws. */
export function formBody(request: BodyOf): ParsedBody {
  if (!isParsable(request)) return NONE
  const parsed = parsedOf(request.body)
  parsed.form ??= parseForm(request.body)
  return parsed.form
}

/** The media type of a `Content-Type` value, lower case and without parameters; `''` when there is none. */
export function mediaType(contentType: string | null): string {
  if (contentType === null) return ''
  const end = contentType.indexOf(';')
  return (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase()
}

/**
 * The body as its content type says (CONTRACT §4 "Paths", R18), parsed lazily and at most once a capture:
 *
 * - `json` for `…/json`, `…+json`, or no content type when the bytes parse; of duplicate keys the last
 *   counts, and a key `__proto__` is an ordinary member;
 * - `form` for `application/x-www-form-urlencoded`;
 * - `none` for all else: other types, oversize traces, empty bodies, bytes that do not parse, JSON deeper
 *   than {@link PARSED_BODY_DEPTH_MAX}, bodies longer than {@link PARSED_BODY_BYTES_MAX}.
 *
 * Never throws. The value is shared: nobody may change it.
 */
export function parsedBody(request: BodyOf): ParsedBody {
  const type = mediaType(request.contentType)
  if (type === '' || type.endsWith('/json') || type.endsWith('+json')) return jsonBody(request)
  return type === 'application/x-www-form-urlencoded' ? formBody(request) : NONE
}
