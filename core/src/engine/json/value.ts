/**
 * JSON as Creel reads it from outside, losslessly. Objects are maps, so that the order of members survives (a plain
 * object moves `"2"` before `"b"`) and `__proto__` is a name like any other.
 */
export type JsonValue = null | boolean | string | number | JsonNumber | JsonArray | JsonObject
/** A list in JSON that was read; it is never changed in place. */
export type JsonArray = readonly JsonValue[]
/** An object in JSON that was read, its members in the order of the text; it is never changed in place. */
export type JsonObject = ReadonlyMap<string, JsonValue>

/** A value fresh from `parseJson`, not shared yet: its owner may change it. */
export type MutableJson =
  | null
  | boolean
  | string
  | number
  | JsonNumber
  | MutableJson[]
  | Map<string, MutableJson>

/**
 * An object as `JSON.parse` made it, losslessly and without `__proto__`. It is never changed, and no member is opened.
 */
export interface UnopenedObject {
  readonly [name: string]: LazyJson
}

/**
 * A document that is mostly passed on unchanged: an object in it stays as `JSON.parse` made it until it is `opened`.
 * Only then is it a map, and may be changed.
 */
export type LazyJson =
  | null
  | boolean
  | string
  | number
  | JsonNumber
  | LazyJson[]
  | Map<string, LazyJson>
  | UnopenedObject

/** A document for reading only, with `memberOf` and `membersOf`; lazy or not. */
export type AnyJson =
  | null
  | boolean
  | string
  | number
  | JsonNumber
  | readonly AnyJson[]
  | ReadonlyMap<string, AnyJson>
  | UnopenedObject

declare global {
  interface JSON {
    // ECMAScript's "JSON.parse source text access", which is not in TypeScript's library yet.

    /** A value that `JSON.stringify` prints as this text. */
    rawJSON(text: string): unknown
    /** The reviver also receives `source`, the text of a value that is neither a list nor an object. */
    parse(
      text: string,
      reviver: (name: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown
  }
}

/** A number that a double would print differently (`1.0`, `9007199254740993`, `1e400`): kept as it was spelled. */
export class JsonNumber {
  constructor(
    /** Matches the JSON number grammar. */
    readonly text: string,
  ) {}

  /** `JSON.stringify` prints the digits as they were written. */
  toJSON(): unknown {
    return JSON.rawJSON(this.text)
  }
}

/** True for both spellings of a number: a double that prints as it was written, or a `JsonNumber`. */
export function isJsonNumber(value: unknown): value is number | JsonNumber {
  return typeof value === 'number' || value instanceof JsonNumber
}

/** True for a list; false for undefined. */
export function isJsonArray(value: JsonValue | undefined): value is JsonArray
export function isJsonArray(value: AnyJson | undefined): value is readonly AnyJson[]
export function isJsonArray(value: AnyJson | undefined): value is readonly AnyJson[] {
  return Array.isArray(value)
}

/** True for an object; false for null and undefined. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return value instanceof Map
}

export function numberText(value: number | JsonNumber): string {
  return typeof value === 'number' ? String(value) : value.text
}

const JSON_NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/

/** Whether a text is exactly one JSON number, with nothing before or after it ("strict decimal text"). */
export function isNumberText(text: string): boolean {
  return JSON_NUMBER.test(text)
}

/** The shortest faithful form of a number that is spelled `text`; `text` must satisfy `isNumberText`. */
export function numberFromText(text: string): number | JsonNumber {
  const double = Number(text)
  return String(double) === text ? double : new JsonNumber(text)
}

/** The least double of full precision. */
const NORMAL_MIN = 2 ** -1022
/** Every number with at most so many digits is the one that its double prints. */
const DOUBLE_DIGITS = 15

/** A number as a double, `1` for `1.0`; one that no double holds keeps its digits. */
export function numberForLooks(text: string): number | JsonNumber {
  const double = Number(text)
  if (text.length <= DOUBLE_DIGITS && Math.abs(double) >= NORMAL_MIN && Number.isFinite(double)) return double
  const printed = String(double)
  return printed === text || significand(printed) === significand(text) ? double : new JsonNumber(text)
}

/**
 * A value that `JSON.parse` or {@link toPlain} made, as a `JsonValue`.
 *
 * @returns undefined when it is not JSON or is nested deeper than `maxDepth`
 */
export function fromPlain(value: unknown, maxDepth: number): JsonValue | undefined {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value
  if (typeof value === 'number')
    return Number.isFinite(value) ? numberFromText(JSON.stringify(value)) : undefined
  if (value instanceof JsonNumber) return value
  if (typeof value !== 'object' || maxDepth <= 0) return undefined
  if (Array.isArray(value)) {
    const items: JsonValue[] = []
    for (const item of value) {
      const read = fromPlain(item, maxDepth - 1)
      if (read === undefined) return undefined
      items.push(read)
    }
    return items
  }
  const members = new Map<string, JsonValue>()
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue
    const read = fromPlain(member, maxDepth - 1)
    if (read === undefined) return undefined
    members.set(name, read)
  }
  return members
}

/**
 * The same node in plain objects and arrays, for `JSON.stringify` and for schemas. Digits of numbers are kept; the
 * position of members whose names are integers is lost.
 */
export function toPlain(node: Node): unknown {
  if (Array.isArray(node)) return node.map(toPlain)
  if (!(node instanceof Map)) return node
  const members: Record<string, unknown> = Object.create(null)
  for (const [name, member] of node) members[name] = toPlain(member)
  return members
}

/**
 * A node is a value of a document, as made by `parseJson` (maps) or by `JSON.parse` (plain objects). So the same code
 * reads bodies that the capture path parsed once and documents that rules change.
 */
export type Node = unknown

/** Sign, digits and power of ten of a number's text, without needless zeros: the same for equal numbers. */
export function significand(text: string): string {
  const [mantissa = '', power = '0'] = text.toLowerCase().split('e')
  const negative = mantissa.startsWith('-')
  const [whole = '', fraction = ''] = (negative ? mantissa.slice(1) : mantissa).split('.')
  const digits = withoutLeadingZeros(whole + fraction)
  let end = digits.length
  while (end > 0 && digits[end - 1] === '0') end -= 1
  if (end === 0) return '0'
  const exponent = powerOfTen(power) - BigInt(fraction.length) + BigInt(digits.length - end)
  return `${negative ? '-' : ''}${digits.slice(0, end)}e${exponent}`
}

/** The written exponent, cut after 30 digits: BigInt takes more than linear time to read one. */
function powerOfTen(power: string): bigint {
  const size = BigInt(withoutLeadingZeros(power.replace(/^[+-]/, '')).slice(0, 30) || '0')
  return power.startsWith('-') ? -size : size
}

function withoutLeadingZeros(digits: string): string {
  let start = 0
  while (start < digits.length && digits[start] === '0') start += 1
  return digits.slice(start)
}

/** Whether a JSON value is an object: not null, and not a list. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
