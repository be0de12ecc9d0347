import { significand } from './canonical.ts'
import { memberCount, memberOf } from './parse.ts'
import {
  isJsonArray,
  isJsonNumber,
  isJsonObject,
  type JsonNumber,
  type JsonValue,
  type Node,
  numberText,
} from './value.ts'

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
