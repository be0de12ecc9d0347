import { createHash } from 'node:crypto'
import { isLabelledForm } from '../message/index.ts'
import type { SchemeRow } from '../providers/index.ts'
import { bytesOf, byteTextOf } from './byteText.ts'
import type { Evidence } from './evidence.ts'
import { contentfulCanonical, firstJsonItem, formSorted, plivoV3 } from './messageFunctions.ts'
import { hubspotUrl, withoutQuery } from './publicUrl.ts'

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
