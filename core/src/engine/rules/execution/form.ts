import { type Segment, segmentIn } from '../../conditions/index.ts'
import { type AnyJson, isJsonNumber, type LazyJson } from '../../json/index.ts'
import { decodeComponent, urlEncodedPairs } from '../../message/index.ts'
import { Fault } from '../language/fault.ts'
import { asText } from '../language/values.ts'
import type { Place } from './nodes.ts'

/** A form as a document: a name's text, or a list of its texts when it is repeated. */
export type FormDocument = Map<string, LazyJson>

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

/** A form as it came. */
export interface OriginalForm {
  readonly text: string
  readonly fields: ReadonlyMap<string, LazyJson>
}

/** Keeps a form as it came, since steps change it and its lists in place. Decoding it again would take long. */
export function originalForm(text: string, form: FormDocument): OriginalForm {
  const fields = new Map(form)
  for (const [name, value] of form) if (Array.isArray(value)) fields.set(name, [...value])
  return { text, fields }
}

/**
 * A changed form as text. Fields that no step touched keep their position and bytes, changed fields their first
 * position. New fields are appended.
 *
 * @throws Fault `type` when a value is neither a text nor a list of texts; no step writes such a value
 */
export function writeForm(form: FormDocument, original: OriginalForm): string {
  const untouched = new Set<string>()
  for (const [name, value] of form) {
    const earlier = original.fields.get(name)
    if (earlier !== undefined && sameTexts(textsOf(value), textsOf(earlier))) untouched.add(name)
  }
  const pieces: string[] = []
  const written = new Set<string>()
  const write = (name: string, value: LazyJson) => {
    for (const text of textsOf(value)) pieces.push(`${encode(name)}=${encode(text)}`)
  }
  for (const piece of original.text.split('&')) {
    if (piece === '') continue
    const name = decodeComponent(piece.split('=', 1)[0] ?? '')
    const value = form.get(name)
    if (value === undefined) continue
    if (untouched.has(name)) pieces.push(piece)
    else if (!written.has(name)) write(name, value)
    written.add(name)
  }
  for (const [name, value] of form) if (!written.has(name)) write(name, value)
  return pieces.join('&')
}

const noForm = () => new Fault('type', 'A form holds texts and lists of texts only.')

/**
 * Refuses a value that a form cannot hold when it is written, so that the fault belongs to the step that wrote it.
 *
 * @throws Fault `type`
 */
export function checkFormValue(value: AnyJson, segments: readonly Segment[]): void {
  const [, index, deeper] = segments
  const isElement = index !== undefined && typeof segmentIn(index, true) === 'number'
  const texts = Array.isArray(value) && !isElement ? value : [value]
  const isText = (each: AnyJson) => each === null || typeof each !== 'object' || isJsonNumber(each)
  if (deeper === undefined && (index === undefined || isElement) && texts.every(isText)) return
  throw noForm()
}

/**
 * Refuses a place that is neither a field of the form nor a text of a repeated field.
 *
 * @throws Fault `type`
 */
export function checkFormPlace({ holder }: Place, root: LazyJson): void {
  if (holder === root || Array.isArray(holder)) return
  throw noForm()
}

function textsOf(value: LazyJson): string[] {
  return Array.isArray(value) ? value.map(asText) : [asText(value)]
}

function sameTexts(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((text, index) => text === right[index])
}

/** As the URL standard writes forms: a space is `+`. Takes a tenth of the time of `encodeURIComponent` and `replace`. */
function encode(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1)
}
