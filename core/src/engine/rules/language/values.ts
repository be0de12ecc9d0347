import { type AnyJson, isJsonNumber, numberText } from '../../json/index.ts'
import { Fault } from './fault.ts'

/** A value in a computation: JSON, or bytes (the body to be sent, a key). */
export type Value = AnyJson | Uint8Array

/**
 * A value as text: text, the digits of a number, `true`, `false`, null as "".
 *
 * @throws Fault `type` for a list or an object, `bad_encoding` for bytes that are not UTF-8
 */
export function asText(value: Value): string {
  if (typeof value === 'string') return value
  if (value === null) return ''
  if (typeof value === 'boolean') return String(value)
  if (isJsonNumber(value)) return numberText(value)
  if (value instanceof Uint8Array) return utf8Text(value)
  throw new Fault('type', `Text is needed here, not ${nameOf(value)}.`)
}

/** Kind of a value, in words for a fault's detail. */
export function nameOf(value: Value): string {
  if (value === null) return 'null'
  if (typeof value === 'string') return 'text'
  if (typeof value === 'boolean') return 'a boolean'
  if (isJsonNumber(value)) return 'a number'
  if (value instanceof Uint8Array) return 'bytes'
  return Array.isArray(value) ? 'a list' : 'an object'
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** @throws Fault `bad_encoding` when the bytes are not UTF-8 */
export function utf8Text(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new Fault('bad_encoding', 'The bytes are not UTF-8 text.')
  }
}
