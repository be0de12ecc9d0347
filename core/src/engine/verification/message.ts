import { createHash } from 'node:crypto'
import { escape as escapeQuery } from 'node:querystring'
import { isLabelledForm, urlEncodedPairs } from '../message/index.ts'
import type { SchemeRow } from '../providers/index.ts'
import { bytesOf, byteTextOf } from './byteText.ts'
import type { Evidence } from './evidence.ts'
import { hubspotUrl, urlPieces, withoutQuery } from './publicUrl.ts'

export interface MessageInput {
  readonly scheme: Pick<SchemeRow, 'idHeader' | 'nonceHeader'>
  readonly evidence: Evidence
  /** As the sender wrote it. */
  readonly timestamp: string | undefined
  readonly secret: Uint8Array | undefined
}

/** The signed message, in pieces that are hashed one after the other; or the name of a missing part of the request. */
export type Message = { readonly pieces: readonly Uint8Array[] } | { readonly missing: string }

type Piece = (input: MessageInput) => Uint8Array | { readonly missing: string }

/** A message template of the catalog, ready to be filled in. */
export type MessageTemplate = (input: MessageInput) => Message

const TOKEN = /\{([^{}]+)\}/

/**
 * Compiles a message template of the catalog. Its tokens: `{body} {timestamp} {id} {nonce} {method} {url}
 * {urlNoQuery} {urlHubspot} {formSorted} {secret} {json:path} {form:name} {formjson:name:path} {fn:name}`;
 * all other text is literal.
 *
 * @throws Error for an unknown token: the catalog's test compiles every row
 */
export function compileMessage(template: string): MessageTemplate {
  const pieces = template
    .split(TOKEN)
    .map((part, index) => (index % 2 === 1 ? pieceOf(part) : part === '' ? undefined : literal(part)))
    .filter((piece) => piece !== undefined)
  return (input) => {
    const filled: Uint8Array[] = []
    for (const piece of pieces) {
      const bytes = piece(input)
      if ('missing' in bytes) return bytes
      filled.push(bytes)
    }
    return { pieces: filled }
  }
}

/** Whether a template signs the URL, so that a mismatch may come from another public URL. */
export function signsUrl(template: string): boolean {
  return /\{url|\{fn:plivo|\{fn:contentful/.test(template)
}

/** Whether a template needs the body read as JSON or as a form. Very long bodies are not parsed. */
export function readsBody(template: string): boolean {
  return /\{(?:json|form|formjson|formSorted|fn:plivo)/.test(template)
}

/**
 * Whether a template signs the fields of a form, and the body is none: then the message leaves the body out. Plivo signs
 * the fields of a POST only.
 */
export function leavesOutBody(template: string, { body, request }: Evidence): boolean {
  const isPlivo = template.includes('{fn:plivo')
  if (body.length === 0 || !(isPlivo || template.includes('{formSorted}'))) return false
  return !isLabelledForm(request) || (isPlivo && request.method !== 'POST')
}

function literal(text: string): Piece {
  const bytes = bytesOf(text)
  return () => bytes
}

function required(text: string | undefined, name: string): Uint8Array | { missing: string } {
  return text === undefined ? { missing: name } : bytesOf(text)
}

function pieceOf(token: string): Piece {
  const [kind = '', name = '', path = ''] = token.split(':')
  switch (kind) {
    case 'body':
      return ({ evidence }) => evidence.body
    case 'timestamp':
      return ({ timestamp }) => required(timestamp, 'timestamp')
    case 'id':
      return ({ evidence, scheme }) => headerBytes(evidence, scheme.idHeader)
    case 'nonce':
      return ({ evidence, scheme }) => headerBytes(evidence, scheme.nonceHeader)
    case 'method':
      return ({ evidence }) => bytesOf(evidence.request.method)
    case 'url':
      return ({ evidence }) => bytesOf(byteTextOf(evidence.url))
    case 'urlNoQuery':
      return ({ evidence }) => bytesOf(byteTextOf(withoutQuery(evidence.url)))
    case 'urlHubspot':
      return ({ evidence }) => bytesOf(byteTextOf(hubspotUrl(evidence.url)))
    case 'formSorted':
      return ({ evidence }) => formSorted(evidence)
    case 'secret':
      return ({ secret }) => secret ?? { missing: 'signing secret' }
    // Absent fields are empty in the signed message (Adyen, Mailgun).
    case 'json':
      return ({ evidence }) => bytesOf(evidence.jsonTexts(name)[0] ?? '')
    case 'form':
      return ({ evidence }) => bytesOf(evidence.field(name) ?? '')
    case 'formjson':
      return ({ evidence }) => bytesOf(evidence.fieldJsonText(name, path) ?? '')
    case 'fn':
      return functionPiece(name)
    default:
      throw new Error(`Unknown token in a message template: {${token}}`)
  }
}

function headerBytes(evidence: Evidence, name: string | undefined): Uint8Array | { missing: string } {
  return required(name === undefined ? undefined : evidence.header(name), name ?? 'id')
}

function functionPiece(name: string): Piece {
  switch (name) {
    case 'plivo-v3':
      return ({ evidence, scheme }) => plivoV3(evidence, scheme.nonceHeader ?? '')
    case 'contentful-canonical':
      return ({ evidence }) => contentfulCanonical(evidence)
    case 'first-json-item':
      return ({ evidence }) => firstJsonItem(evidence.body) ?? { missing: 'JSON array in the body' }
    default:
      throw new Error(`Unknown function in a message template: ${name}`)
  }
}

export function sha256Hex(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** The few messages that no template can express. Each is explained in the notes of its provider's documentation. */

type Pairs = readonly (readonly [string, string])[]

/** Sorts by name, then by value, in the order of their bytes, as the providers do. */
function sorted(pairs: Pairs): Pairs {
  return pairs
    .map(([name, value]) => [byteTextOf(name), byteTextOf(value)] as const)
    .sort((left, right) => order(left[0], right[0]) || order(left[1], right[1]))
}

function order(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}

/**
 * Twilio, Mandrill: the form's fields sorted by name, name and value joined, no separators. If a name is repeated,
 * equal values count once. Empty for a request without a form.
 */
function formSorted(evidence: Evidence): Uint8Array {
  if (!isLabelledForm(evidence.request)) return bytesOf('')
  const fields = sorted(evidence.fields())
  const once = fields.filter(
    ([name, value], index) =>
      index === 0 || fields[index - 1]?.[0] !== name || fields[index - 1]?.[1] !== value,
  )
  return bytesOf(once.map(([name, value]) => name + value).join(''))
}

/** Plivo V3: the URL with its query sorted, then the form's fields sorted, then the nonce. */
function plivoV3(evidence: Evidence, nonceHeader: string): Uint8Array | { missing: string } {
  const nonce = evidence.header(nonceHeader)
  if (nonce === undefined) return { missing: nonceHeader }
  const query = sorted(urlEncodedPairs(evidence.request.queryString ?? ''))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
  const fields =
    evidence.request.method === 'POST'
      ? sorted(evidence.fields())
          .map(([name, value]) => name + value)
          .join('')
      : ''
  const base = byteTextOf(withoutQuery(evidence.url))
  // The full stop before the fields is written only after a query.
  const start = query === '' ? '' : `?${query}`
  const parameters = fields === '' ? start : query === '' ? `?${fields}` : `${start}.${fields}`
  return bytesOf(`${base}${parameters}.${nonce}`)
}

/** Contentful: method, encoded path and query, the signed headers and the body, a line each. */
function contentfulCanonical(evidence: Evidence): Uint8Array | { missing: string } {
  const names = evidence.header('x-contentful-signed-headers')
  const pieces = urlPieces(evidence.url)
  if (names === undefined) return { missing: 'x-contentful-signed-headers' }
  if (pieces === undefined) return { missing: 'public URL' }
  const query = pieces.query === '' ? '' : `?${escapeQuery(pieces.query.slice(1))}`
  const headers = names
    .split(',', 50)
    .map((name) => name.trim().toLowerCase())
    .sort(order)
    .map((name) => `${name}:${evidence.header(name) ?? ''}`)
    .join(';')
  const head = `${evidence.request.method}\n${encodeURI(pieces.path + query)}\n${headers}\n`
  return Buffer.concat([bytesOf(head), evidence.body])
}

const OPENERS = new Set([0x5b, 0x7b])
const CLOSERS = new Set([0x5d, 0x7d])
const [QUOTE, BACKSLASH, COMMA, LIST] = [0x22, 0x5c, 0x2c, 0x5b]

/**
 * Segment, batched: the bytes of the first item of the JSON array, as they are in the body.
 *
 * @returns undefined when the body does not start like an array with an item
 */
function firstJsonItem(body: Uint8Array): Uint8Array | undefined {
  const start = skipBlanks(body, 0)
  if (body[start] !== LIST) return undefined
  const from = skipBlanks(body, start + 1)
  let depth = 0
  let inString = false
  for (let index = from; index < body.length; index += 1) {
    const byte = body[index] ?? 0
    if (byte === QUOTE) inString = !inString
    else if (inString) {
      if (byte === BACKSLASH) index += 1
    } else if (depth === 0 && (byte === COMMA || CLOSERS.has(byte))) {
      return index === from ? undefined : trimmedEnd(body, from, index)
    } else if (OPENERS.has(byte)) depth += 1
    else if (CLOSERS.has(byte)) depth -= 1
  }
  return undefined
}

function isJsonBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

function skipBlanks(bytes: Uint8Array, from: number): number {
  let at = from
  while (isJsonBlank(bytes[at])) at += 1
  return at
}

function trimmedEnd(bytes: Uint8Array, from: number, to: number): Uint8Array {
  let end = to
  while (end > from && isJsonBlank(bytes[end - 1])) end -= 1
  return bytes.subarray(from, end)
}
