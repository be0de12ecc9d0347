import { Decimal as AnyDecimal } from 'decimal.js'
import {
  type AnyJson,
  isJsonArray,
  isJsonNumber,
  isNumberText,
  type JsonNumber,
  type JsonValue,
  numberFromText,
  numberText,
} from '../../json/index.ts'
import { Fault } from '../language/fault.ts'
import { asText, nameOf, type Value } from '../language/values.ts'

/** Exact decimals, 40 digits, half away from zero. */
export const Decimal = AnyDecimal.clone({ precision: 40, rounding: AnyDecimal.ROUND_HALF_UP, defaults: true })
/** An exact decimal number. */
export type Decimal = InstanceType<typeof Decimal>

/** The most digits on either side of the point, since numbers are printed without exponent. */
const MAX_PLACES = 1000

/**
 * The number that a text spells; the text must be a JSON number.
 *
 * @throws Fault `bad_number` for more than a thousand digits before or after the point
 */
function decimalOf(text: string): Decimal {
  if (text.length > 4 * MAX_PLACES) throw tooLong()
  return checked(new Decimal(text))
}

/** A result as JSON: plain digits, no exponent, no needless zeros. */
export function toNumber(decimal: Decimal): number | JsonNumber {
  const text = checked(decimal).toFixed()
  return numberFromText(text === '-0' ? '0' : text)
}

function checked(decimal: Decimal): Decimal {
  if (!decimal.isFinite() || Math.abs(decimal.e) > MAX_PLACES || decimal.decimalPlaces() > MAX_PLACES)
    throw tooLong()
  return decimal
}

function tooLong(): Fault {
  return new Fault('bad_number', `A number has at most ${MAX_PLACES} digits before and after the point.`)
}

/** A kind of parameter: the values that it takes, and how it converts them. */
export interface Kind<T> {
  readonly name: string
  /** @throws Fault when the value is not of this kind */
  readonly read: (value: Value) => T
  /** Checks a literal when a rule is saved. @returns what is wrong with it, or null */
  readonly refuses?: (literal: JsonValue) => string | null
  /** Whether `{"secret":"signing"}` is allowed. */
  readonly takesSecret?: true
}

/** One parameter of a function: named for the docs. */
export interface Parameter<T> {
  readonly name: string
  readonly kind: Kind<T>
  /** Used for a missing argument and for null; absent for a required parameter. */
  readonly fallback?: { readonly value: T; readonly words: string }
}

/** Text, also of a number, a boolean, null ("") or UTF-8 bytes; faults on a list or an object. */
export const TEXT: Kind<string> = { name: 'text', read: asText }

/** An exact decimal; faults on anything but a number or the text of one. */
export const NUMBER: Kind<Decimal> = { name: 'number', read: asNumber }

/** Any value as it is, bytes included. */
export const ANY: Kind<Value> = { name: 'any', read: (value) => value }

/** Any JSON: bytes are read as text. */
export const JSON_VALUE: Kind<AnyJson> = {
  name: 'any',
  read: (value) => (value instanceof Uint8Array ? asText(value) : value),
}

/** A list; faults on anything else, null included. */
export const LIST: Kind<readonly AnyJson[]> = {
  name: 'list',
  read: (value) => {
    if (!(value instanceof Uint8Array) && isJsonArray(value)) return value
    throw new Fault('type', `A list is needed here, not ${nameOf(value)}.`)
  },
}

/** A list or null; faults on anything else. */
export const LIST_OR_NULL: Kind<readonly AnyJson[] | null> = {
  name: 'list',
  read: (value) => (value === null ? null : LIST.read(value)),
}

/** A whole number, cut to 32 bits with sign; faults on one with a fraction. */
export const INTEGER: Kind<number> = {
  name: 'integer',
  read: (value) => {
    const number = asNumber(value)
    if (!number.isInteger()) throw new Fault('bad_number', 'A whole number is needed here.')
    return Math.max(-0x8000_0000, Math.min(0x7fff_ffff, number.toNumber()))
  },
}

/** Bytes as they are, any other value as the UTF-8 of its text. */
export const BYTES: Kind<Uint8Array> = {
  name: 'text or bytes',
  read: (value) => (value instanceof Uint8Array ? value : Buffer.from(asText(value))),
}

/** The key of a MAC: the action's signing secret or text. */
export const KEY: Kind<Uint8Array> = { name: 'secret or text', read: BYTES.read, takesSecret: true }

export function oneOf<const Words extends readonly string[]>(words: Words): Kind<Words[number]> {
  const listed = words.map((word) => JSON.stringify(word)).join(', ')
  return {
    name: words.map((word) => `"${word}"`).join(' or '),
    read: (value) => {
      const word = words.find((known) => known === value)
      if (word === undefined) throw new Fault('type', `One of ${listed} is needed here.`)
      return word
    },
    refuses: (literal) =>
      literal === null || words.some((known) => known === literal) ? null : `must be one of ${listed}`,
  }
}

/**
 * A number, or text that is strictly one.
 *
 * @throws Fault `bad_number` for text that is not a number, `type` for anything else
 */
function asNumber(value: Value): Decimal {
  if (isJsonNumber(value)) return decimalOf(numberText(value))
  if (typeof value !== 'string') throw new Fault('type', `A number is needed here, not ${nameOf(value)}.`)
  if (!isNumberText(value)) throw new Fault('bad_number', 'The text is not a number.')
  return decimalOf(value)
}
