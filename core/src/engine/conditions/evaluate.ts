import {
  isJsonArray,
  isJsonNumber,
  isNumberText,
  type JsonNumber,
  type JsonValue,
  type Node,
  numberFromText,
  numberText,
  sameJson,
  sameNumber,
  significand,
} from '../json/index.ts'
import type { EvaluatedRequest } from '../message/index.ts'
import { compareNumbers } from './compareNumbers.ts'
import type { Condition, Leaf, Test } from './condition.ts'
import { compareInstants, parseInstant } from './instants.ts'
import { someValue } from './read.ts'
import { type ReadRoot, requestRoot } from './readRoot.ts'
import { findText, foldCase, isLike, likeParts } from './textSearch.ts'

/** How much of a text `contains` and `like` examine. */
const EXAMINED = 256 * 1024

type Check = (value: Node, isText: boolean) => boolean

/** Whether a request as captured satisfies a condition. Cannot fault; linear in the size of the request. */
export function matches(condition: Condition, request: EvaluatedRequest): boolean {
  return condition.test.kind === 'always' || holds(condition, requestRoot(request))
}

/** The same for anything that paths can read, such as the result of earlier rules. */
export function holds(condition: Condition, root: ReadRoot): boolean {
  return passes(condition.test, root)
}

function passes(test: Test, root: ReadRoot): boolean {
  switch (test.kind) {
    case 'always':
      return true
    case 'all':
      return test.tests.every((inner) => passes(inner, root))
    case 'any':
      return test.tests.some((inner) => passes(inner, root))
    case 'not':
      return !passes(test.test, root)
    case 'leaf':
      return passesLeaf(test, root)
  }
}

function passesLeaf(leaf: Leaf, root: ReadRoot): boolean {
  const found = someValue(root, leaf.path, checkOf(leaf))
  switch (leaf.op) {
    case 'neq':
    case 'nin':
      return !found
    case 'exists':
      return found === leaf.value
    default:
      return found
  }
}

/** Built once a condition, since conditions are kept and captures are many. */
const checks = new WeakMap<Leaf, Check>()

function checkOf(leaf: Leaf): Check {
  const known = checks.get(leaf)
  if (known !== undefined) return known
  const check = buildCheck(leaf)
  checks.set(leaf, check)
  return check
}

function buildCheck({ op, value, ignoreCase }: Leaf): Check {
  const shape = ignoreCase ? foldCase : (text: string) => text
  const text = typeof value === 'string' ? shape(value) : ''
  switch (op) {
    case 'eq':
    case 'neq':
      return equals(value, ignoreCase)
    case 'in':
    case 'nin':
      return isOneOf(isJsonArray(value) ? value : [], ignoreCase)
    case 'gt':
      return inOrder(value, (order) => order > 0)
    case 'gte':
      return inOrder(value, (order) => order >= 0)
    case 'lt':
      return inOrder(value, (order) => order < 0)
    case 'lte':
      return inOrder(value, (order) => order <= 0)
    case 'startsWith':
      return (left) => typeof left === 'string' && shape(left.slice(0, text.length)) === text
    case 'endsWith':
      return (left) =>
        typeof left === 'string' &&
        left.length >= text.length &&
        shape(left.slice(left.length - text.length)) === text
    case 'contains': {
      const same = equals(value, ignoreCase)
      return (left, isText) => {
        if (typeof left === 'string') {
          return typeof value === 'string' && findText(shape(left.slice(0, EXAMINED)), text) !== -1
        }
        return Array.isArray(left) && left.some((item) => same(item, isText))
      }
    }
    case 'like': {
      const parts = likeParts(text)
      return (left) => typeof left === 'string' && isLike(shape(left.slice(0, EXAMINED)), parts)
    }
    case 'exists':
      return () => true
  }
}

function equals(value: JsonValue, ignoreCase: boolean): Check {
  const sameText = ignoreCase
    ? (left: string, right: string) => left.length === right.length && foldCase(left) === foldCase(right)
    : (left: string, right: string) => left === right
  if (isJsonNumber(value)) {
    return (left, isText) => {
      const number = isText ? strictNumber(left) : isJsonNumber(left) ? left : undefined
      return number !== undefined && sameNumber(number, value)
    }
  }
  if (typeof value === 'boolean')
    return (left, isText) => left === value || (isText && left === String(value))
  return (left) => sameJson(left, value, sameText)
}

/**
 * `in` as one look-up for plain values, since a list of a hundred is asked for every element that `[*]` finds. A number
 * is looked up by its value, a text by its folded form.
 */
function isOneOf(values: readonly JsonValue[], ignoreCase: boolean): Check {
  const fold = ignoreCase ? foldCase : (text: string) => text
  const texts = new Set<string>()
  const numbers = new Set<string>()
  const longest = values.reduce<number>(
    (most, value) => (typeof value === 'string' ? Math.max(most, value.length) : most),
    0,
  )
  const others: Check[] = []
  for (const value of values) {
    if (typeof value === 'string') texts.add(fold(value))
    else if (isJsonNumber(value)) numbers.add(significand(numberText(value)))
    else others.push(equals(value, ignoreCase))
  }
  return (left, isText) => {
    if (typeof left === 'string' && left.length <= longest && texts.has(fold(left))) return true
    const number =
      numbers.size === 0 ? undefined : isText ? strictNumber(left) : isJsonNumber(left) ? left : undefined
    if (number !== undefined && numbers.has(significand(numberText(number)))) return true
    return others.some((check) => check(left, isText))
  }
}

function inOrder(value: JsonValue, accepts: (order: number) => boolean): Check {
  if (isJsonNumber(value)) {
    return (left) => {
      const number = isJsonNumber(left) ? left : strictNumber(left)
      return number !== undefined && accepts(compareNumbers(number, value))
    }
  }
  const instant = typeof value === 'string' ? parseInstant(value) : undefined
  return (left) => {
    const other = typeof left === 'string' ? parseInstant(left) : undefined
    return instant !== undefined && other !== undefined && accepts(compareInstants(other, instant))
  }
}

function strictNumber(value: Node): number | JsonNumber | undefined {
  return typeof value === 'string' && isNumberText(value) ? numberFromText(value) : undefined
}
