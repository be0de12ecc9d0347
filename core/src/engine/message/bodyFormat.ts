import { isUtf8 } from 'node:buffer'
import type { CapturedRequest } from './capturedRequest.ts'

/** The parts of a request that reading its body needs. */
export type BodyOf = Pick<CapturedRequest, 'body' | 'bodyTruncated' | 'contentType'>

/** Kind of body by its media type. `open` is so general that the bytes may decide. */
type Label = 'json' | 'form' | 'multipart' | 'open' | 'other'

export type BodyStructure<Json> =
  | { readonly kind: 'json'; readonly json: Json }
  | { readonly kind: 'form' }
  | { readonly kind: 'none' }

export const BODY_KINDS = ['json', 'form', 'multipart', 'text', 'binary'] as const
export type BodyKind = (typeof BODY_KINDS)[number]

/** Deeper JSON is not read; `[]` has depth 1. */
export const JSON_DEPTH_MAX = 256

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** A body as text; undefined when it is empty or binary: not valid UTF-8, or with a NUL in it. */
export function textOf(body: Uint8Array): string | undefined {
  return isText(body) ? utf8.decode(body) : undefined
}

const isText = (body: Uint8Array): boolean => body.length > 0 && !body.includes(0) && isUtf8(body)

/** The detail of an issue at a body that is not {@link isBase64}. */
export const NOT_BASE64 = 'A binary body is Base64 text.'

/**
 * Whether all of a text is Base64: in either alphabet, with or without padding and white space. `Buffer.from` silently
 * skips other characters, so they must be found before.
 */
export function isBase64(text: string): boolean {
  const bare = text.replaceAll(/\s/g, '')
  const end = bare.indexOf('=')
  const data = end < 0 ? bare : bare.slice(0, end)
  return !/[^\w+/-]/.test(data) && data.length % 4 !== 1 && /^={0,2}$/.test(bare.slice(data.length))
}

/** The media type of a `Content-Type` value, lower case and without parameters; `''` when there is none. */
function mediaType(contentType: string | null): string {
  if (contentType === null) return ''
  const end = contentType.indexOf(';')
  return (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase()
}

function labelOf(contentType: string | null): Label {
  if (contentType === 'application/json') return 'json'
  const type = mediaType(contentType)
  if (type.endsWith('/json') || type.endsWith('+json') || type === 'application/x-json') return 'json'
  if (type === 'application/x-www-form-urlencoded') return 'form'
  if (type === 'multipart/form-data') return 'multipart'
  return type === '' || type === 'application/octet-stream' || type.startsWith('text/') ? 'open' : 'other'
}

/**
 * Decides what a body is; all code that reads bodies asks this function. A body is JSON if the media type says so, and
 * also if the type is a form's, `text/*`, `application/octet-stream` or absent and the bytes are a JSON object or
 * array. Only a body that is not JSON can be a form. So a sender cannot bypass a rule by mislabelling a body.
 *
 * JSON that nests too deep to be read is not a form either: no rule could address its parts. Nor is one of more than
 * {@link FIELDS_MAX} fields.
 *
 * @param readJson returns undefined for bytes that are not JSON; called at most once
 */
export function bodyStructure<Json>(
  request: BodyOf,
  readJson: (body: Uint8Array) => Json | undefined,
): BodyStructure<Json> {
  const { body, contentType } = request
  if (request.bodyTruncated || body.length === 0) return { kind: 'none' }
  const label = labelOf(contentType)
  const opensLikeJson =
    label === 'json' || ((label === 'form' || label === 'open') && isOpenedByBracket(body))
  const json = opensLikeJson ? readJson(body) : undefined
  if (json !== undefined) return { kind: 'json', json }
  if (label !== 'form') return { kind: 'none' }
  return { kind: (opensLikeJson && isTooDeep(body)) || hasTooManyFields(body) ? 'none' : 'form' }
}

/** Kind of a body, for display; null when it is empty. A prefix of a body is text or binary. */
export function bodyKind(request: BodyOf, readJson: (body: Uint8Array) => unknown): BodyKind | null {
  if (request.body.length === 0) return null
  const { kind } = bodyStructure(request, readJson)
  if (kind !== 'none') return kind
  if (labelOf(request.contentType) === 'multipart') return 'multipart'
  return isText(request.body) ? 'text' : 'binary'
}

/** Whether the media type says that the body is a form. Signatures over a form's fields depend on it. */
export function isLabelledForm({ contentType }: Pick<BodyOf, 'contentType'>): boolean {
  return labelOf(contentType) === 'form'
}

/** Whether the media type is `multipart/form-data`. */
export function isLabelledMultipart({ contentType }: Pick<BodyOf, 'contentType'>): boolean {
  return labelOf(contentType) === 'multipart'
}

/** Whether there is no media type at all. */
export function isUnlabelled({ contentType }: Pick<BodyOf, 'contentType'>): boolean {
  return mediaType(contentType) === ''
}

const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d])
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]

/** Whether the first byte that is no blank is `{` or `[`. */
function isOpenedByBracket(body: Uint8Array): boolean {
  let at = BYTE_ORDER_MARK.every((byte, index) => body[index] === byte) ? BYTE_ORDER_MARK.length : 0
  while (at < body.length && BLANKS.has(body[at] ?? 0)) at += 1
  return body[at] === 0x7b || body[at] === 0x5b
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Whether JSON nests too deep. Such text is never parsed, since it could exhaust the parser's stack. */
export function isTooDeep(bytes: Uint8Array): boolean {
  return hasMoreOf(OPENING_BRACKETS, bytes, JSON_DEPTH_MAX) && nestsTooDeep(bytes)
}

/** The most fields of a form that are read. Millions, which fit a body, would hold the event loop for seconds. */
const FIELDS_MAX = 10_000

/** Whether a form has more fields than are read. */
export function hasTooManyFields(bytes: Uint8Array): boolean {
  return hasMoreOf(AMPERSAND, bytes, FIELDS_MAX)
}

const AMPERSAND = [0x26]
const OPENING_BRACKETS = [0x5b, 0x7b]

/** Few bodies have enough brackets. Finding those that there are costs a fraction of a walk over all bytes. */
function hasMoreOf(wanted: readonly number[], bytes: Uint8Array, most: number): boolean {
  let found = 0
  for (const byte of wanted) {
    for (let at = bytes.indexOf(byte); at >= 0; at = bytes.indexOf(byte, at + 1)) {
      found += 1
      if (found > most) return true
    }
  }
  return false
}

/** Counts brackets outside of strings. */
function nestsTooDeep(bytes: Uint8Array): boolean {
  let depth = 0
  let inString = false
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index]
    if (byte === QUOTE) inString = !inString
    else if (inString) {
      if (byte === BACKSLASH) index += 1
    } else if (byte === 0x5b || byte === 0x7b) {
      depth += 1
      if (depth > JSON_DEPTH_MAX) return true
    } else if (byte === 0x5d || byte === 0x7d) depth -= 1
  }
  return false
}
