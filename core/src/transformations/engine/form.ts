import type { MutableJson } from '../../json/index.ts'
import { urlEncodedPairs } from '../../requests/urlEncoded.ts'
import { Fault } from '../language/fault.ts'
import { asText } from '../language/values.ts'

/** A form as a document: a name's text, or a list of its texts when it is repeated. */
export type FormDocument = Map<string, MutableJson>

/** Reads `application/x-www-form-urlencoded` text. */
export function parseForm(text: string): FormDocument {
  const form: FormDocument = new Map()
  for (const [name, value] of urlEncodedPairs(text)) {
    const earlier = form.get(name)
    if (earlier === undefined) form.set(name, value)
    else if (Array.isArray(earlier)) earlier.push(value)
    else form.set(name, [earlier, value])
  }
  return form
}

/**
 * A changed form as text: what no step touched keeps its place and its very bytes; what changed stands where it first
 * stood, what is new stands last.
 *
 * @param original the text as it came
 * @throws Fault `type` when a value is no text and no list of texts
 */
export function writeForm(form: FormDocument, original: string): string {
  const before = parseForm(original)
  const untouched = (name: string) => {
    const value = form.get(name)
    return value !== undefined && sameTexts(textsOf(value), textsOf(before.get(name) ?? []))
  }
  const pieces: string[] = []
  const written = new Set<string>()
  for (const piece of original.split('&')) {
    const [pair] = urlEncodedPairs(piece)
    if (pair === undefined) continue
    const [name] = pair
    const value = form.get(name)
    if (value === undefined) continue
    if (untouched(name)) pieces.push(piece)
    else if (!written.has(name)) pieces.push(...pairsOf(name, value))
    written.add(name)
  }
  for (const [name, value] of form) if (!written.has(name)) pieces.push(...pairsOf(name, value))
  return pieces.join('&')
}

function pairsOf(name: string, value: MutableJson): string[] {
  return textsOf(value).map((text) => `${encode(name)}=${encode(text)}`)
}

function textsOf(value: MutableJson): string[] {
  if (!Array.isArray(value)) return [textOf(value)]
  return value.map(textOf)
}

function textOf(value: MutableJson): string {
  if (value instanceof Map || Array.isArray(value)) {
    throw new Fault('type', 'A form holds texts and lists of texts only.')
  }
  return asText(value)
}

function sameTexts(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((text, index) => text === right[index])
}

/** As the URL standard writes forms: a space is `+`. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replace(/[!'()~]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+')
}
