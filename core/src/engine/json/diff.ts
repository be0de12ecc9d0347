import { memberCount, memberOf, parseJson, STORED_JSON_DEPTH } from './parse.ts'
import {
  isJsonArray,
  isJsonNumber,
  isJsonObject,
  type JsonNumber,
  type JsonValue,
  type Node,
  numberForLooks,
  numberText,
  significand,
} from './value.ts'

/** A value that two documents do not share; undefined where one of them has none. */
export interface JsonDifference {
  /** Like `body.items[0].id`. */
  readonly path: string
  readonly before: JsonValue | undefined
  readonly after: JsonValue | undefined
}

/** Longer paths are not followed: the values there are compared as a whole, so that no document repeats long paths. */
const PATH_CHARACTERS_MAX = 1000

/**
 * Passes every difference of two documents to `found`, in the order of the first. A member that is null differs from one
 * that is missing. Numbers are compared by their value. Takes time in proportion to the size of both.
 *
 * @param path the name of the documents, with which every path begins
 * @param found returns false to end the comparison
 * @returns false if the comparison was ended
 */
export function eachJsonDifference(
  path: string,
  before: JsonValue,
  after: JsonValue,
  found: (difference: JsonDifference) => boolean,
): boolean {
  if (path.length < PATH_CHARACTERS_MAX) {
    if (isJsonArray(before) && isJsonArray(after)) return eachOfItems(path, before, after, found)
    if (isJsonObject(before) && isJsonObject(after)) return eachOfMembers(path, before, after, found)
  }
  return sameJson(before, after) || found({ path, before, after })
}

function eachOfItems(
  path: string,
  before: readonly JsonValue[],
  after: readonly JsonValue[],
  found: (difference: JsonDifference) => boolean,
): boolean {
  for (let at = 0; at < Math.max(before.length, after.length); at += 1)
    if (!eachOfPair(`${path}[${at}]`, before[at], after[at], found)) return false
  return true
}

function eachOfMembers(
  path: string,
  before: ReadonlyMap<string, JsonValue>,
  after: ReadonlyMap<string, JsonValue>,
  found: (difference: JsonDifference) => boolean,
): boolean {
  for (const [name, member] of before)
    if (!eachOfPair(`${path}.${name}`, member, after.get(name), found)) return false
  for (const [name, member] of after)
    if (!before.has(name) && !found({ path: `${path}.${name}`, before: undefined, after: member }))
      return false
  return true
}

function eachOfPair(
  path: string,
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  found: (difference: JsonDifference) => boolean,
): boolean {
  return before === undefined || after === undefined
    ? found({ path, before, after })
    : eachJsonDifference(path, before, after, found)
}

/** Equality of two numbers by their value: `1`, `1.0` and `1e0` are one number, however many digits they have. */
export function sameNumber(left: number | JsonNumber, right: number | JsonNumber): boolean {
  if (typeof left === 'number' && typeof right === 'number') return left === right
  return significand(numberText(left)) === significand(numberText(right))
}

/**
 * Deep JSON equality: the order of members does not matter, that of items does. Linear in the size of `value`.
 *
 * @param sameText how two strings compare; names of members always compare exactly
 */
export function sameJson(
  node: Node,
  value: JsonValue,
  sameText: (node: string, value: string) => boolean = (left, right) => left === right,
): boolean {
  if (typeof value === 'string') return typeof node === 'string' && sameText(node, value)
  if (isJsonNumber(value)) return isJsonNumber(node) && sameNumber(node, value)
  if (isJsonArray(value)) {
    return (
      Array.isArray(node) &&
      node.length === value.length &&
      value.every((item, index) => sameJson(node[index], item, sameText))
    )
  }
  if (isJsonObject(value)) {
    for (const [name, member] of value) if (!sameJson(memberOf(node, name), member, sameText)) return false
    // Counted last: an object with many members takes long to count.
    return memberCount(node) === value.size
  }
  return node === value
}

/** RFC 8785 text. Two documents have the same text exactly when they are equal. */
export function canonicalJson(value: JsonValue): string {
  if (isJsonNumber(value)) return canonicalNumber(numberText(value))
  if (isJsonArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  // RFC 8785 §3.2.3 orders names by UTF-16 code unit, which is what the default sort does.
  const names = [...value.keys()].sort()
  const members = names.map((name) => `${JSON.stringify(name)}:${canonicalJson(value.get(name) ?? null)}`)
  return `{${members.join(',')}}`
}

/** {@link canonicalJson} of a text that we stored or store; undefined if it is not JSON. */
export function canonicalText(text: string): string | undefined {
  const read: { value: JsonValue } | undefined = parseJson(text, STORED_JSON_DEPTH)
  return read && canonicalJson(read.value)
}

/** Whether two texts are the same document (RFC 8785). */
export function sameDocument(left: string, right: string): boolean {
  return left === right || canonicalText(left) === canonicalText(right)
}

/**
 * RFC 8785 prints numbers as doubles and leaves numbers that no double can hold to the caller. Here they keep their
 * digits, so that two ids above 2^53 never compare as equal.
 */
function canonicalNumber(text: string): string {
  const number = numberForLooks(text)
  if (typeof number !== 'number') return significand(text)
  return number === 0 ? '0' : String(number)
}
