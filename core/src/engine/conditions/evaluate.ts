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
import type { Condition, ConditionOp, Leaf } from './condition.ts'
import { compareInstants, parseInstant } from './leafValue.ts'
import type { Path } from './paths.ts'
import { HOLDS, programOf } from './program.ts'
import { someValue, valueLists } from './read.ts'
import { type ReadRoot, requestRoot } from './readRoot.ts'
import { findText, foldCase, isLike, likeParts } from './textSearch.ts'

/** Characters of a text that `contains` and `like` examine. */
const EXAMINED = 256 * 1024

type Check = (value: Node, isText: boolean) => boolean

/** Whether a request as captured satisfies a condition. Never throws; linear in the size of the request. */
export function matches(condition: Condition, request: EvaluatedRequest): boolean {
  return condition.test.kind === 'always' || holds(condition, requestRoot(request))
}

/** {@link matches} for anything that paths can read, such as the result of earlier rules. */
export function holds(condition: Condition, root: ReadRoot): boolean {
  const program = programOf(condition)
  let at = program.start
  while (at >= 0) {
    const step = program.steps[at]
    if (step === undefined) break
    at = passesLeaf(step.leaf, root) ? step.whenTrue : step.whenFalse
  }
  return at === HOLDS
}

/**
 * {@link holds} in pieces: the generator yields after each comparison with {@link PIECE_WEIGHT} values, and after each
 * leaf. A piece takes a few milliseconds over a body of 1 MiB, and at most about 20: one long text without regard to
 * case, or `contains` of a list with hundreds of thousands of elements. The first piece that reads the body also parses
 * it.
 */
export function* holdsInSteps(condition: Condition, root: ReadRoot): Generator<void, boolean> {
  const program = programOf(condition)
  let at = program.start
  while (at >= 0) {
    const step = program.steps[at]
    if (step === undefined) break
    at = (yield* passesLeafInSteps(step.leaf, root)) ? step.whenTrue : step.whenFalse
  }
  return at === HOLDS
}

/**
 * Whether a condition holds for some values of the paths whose values are unknown; in pieces, as {@link holdsInSteps}.
 */
export function* mayHoldInSteps(
  condition: Condition,
  root: ReadRoot,
  isUnknown: (path: Path) => boolean,
): Generator<void, boolean> {
  const program = programOf(condition)
  const seen = new Set<number>()
  const open = [program.start]
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (at === HOLDS) return true
    const step = program.steps[at]
    // An outcome does not depend on the way to a step.
    if (step === undefined || seen.has(at)) continue
    seen.add(at)
    const { leaf, whenTrue, whenFalse } = step
    if (isUnknown(leaf.path)) open.push(whenFalse, whenTrue)
    else open.push((yield* passesLeafInSteps(leaf, root)) ? whenTrue : whenFalse)
  }
  return false
}

function passesLeaf(leaf: Leaf, root: ReadRoot): boolean {
  return outcomeOf(leaf, someValue(root, leaf.path, checksOf(leaf).whole))
}

function* passesLeafInSteps(leaf: Leaf, root: ReadRoot): Generator<void, boolean> {
  const { parts } = checksOf(leaf)
  let weight = 0
  for (const { values, isText } of valueLists(root, leaf.path)) {
    for (const value of values) {
      for (const check of parts) {
        if (check(value, isText)) return outcomeOf(leaf, true)
        weight += weightOf(value)
        if (weight < PIECE_WEIGHT) continue
        weight = 0
        yield
      }
    }
    weight += LIST_WEIGHT
    if (weight < PIECE_WEIGHT) continue
    weight = 0
    yield
  }
  yield
  return outcomeOf(leaf, false)
}

/** Weight of one piece: 64 plain values, or a text of 16,384 characters. */
const PIECE_WEIGHT = 64
const CHARACTERS_OF_WEIGHT = 256
/** Finding a list of values takes time, however few they are. */
const LIST_WEIGHT = 4
/** The members of an object are looked up, and may have to be counted. */
const OBJECT_WEIGHT = 4

function weightOf(value: Node): number {
  if (typeof value === 'string') return 1 + value.length / CHARACTERS_OF_WEIGHT
  return typeof value === 'object' ? OBJECT_WEIGHT : 1
}

/** @param found whether some value passed the leaf's check */
function outcomeOf({ op, value }: Leaf, found: boolean): boolean {
  switch (op) {
    case 'neq':
    case 'nin':
      return !found
    case 'exists':
      return found === value
    default:
      return found
  }
}

interface Checks {
  readonly whole: Check
  /** Comparisons that are made one after the other; a value passes if one does. */
  readonly parts: readonly Check[]
}

/** Built once a condition: conditions are kept, and evaluated for many captures. */
const checks = new WeakMap<Leaf, Checks>()

function checksOf(leaf: Leaf): Checks {
  const known = checks.get(leaf)
  if (known !== undefined) return known
  const parts = buildChecks(leaf)
  const [only, ...others] = parts
  const whole: Check =
    only !== undefined && others.length === 0
      ? only
      : (value, isText) => parts.some((check) => check(value, isText))
  const built = { whole, parts }
  checks.set(leaf, built)
  return built
}

/**
 * The most comparisons that a condition makes with each value that its paths find. Evaluation time is bounded by this
 * number times the size of the request.
 */
export function looksOf(condition: Condition): number {
  return programOf(condition).steps.reduce((sum, { leaf }) => sum + checksOf(leaf).parts.length, 0)
}

function buildChecks(leaf: Leaf): readonly Check[] {
  const { op, value, ignoreCase } = leaf
  if (op !== 'in' && op !== 'nin') return [buildCheck(op, leaf)]
  return isOneOf(isJsonArray(value) ? value : [], ignoreCase)
}

function buildCheck(op: Exclude<ConditionOp, 'in' | 'nin'>, { value, ignoreCase }: Leaf): Check {
  const shape = ignoreCase ? foldCase : (text: string) => text
  const text = typeof value === 'string' ? shape(value) : ''
  switch (op) {
    case 'eq':
    case 'neq':
      return equals(value, ignoreCase)
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
 * `in` as one look-up for plain values, since each element that `[*]` finds may be compared with a hundred. A number
 * is looked up by its value, a text by its folded form. Other values are compared one after the other.
 */
function isOneOf(values: readonly JsonValue[], ignoreCase: boolean): readonly Check[] {
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
  const isPlainOne: Check = (left, isText) => {
    if (typeof left === 'string' && left.length <= longest && texts.has(fold(left))) return true
    const number =
      numbers.size === 0 ? undefined : isText ? strictNumber(left) : isJsonNumber(left) ? left : undefined
    return number !== undefined && numbers.has(significand(numberText(number)))
  }
  return [isPlainOne, ...others]
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

/** Negative, zero or positive as `left` is less than, equal to or greater than `right`; exact at any length. */
function compareNumbers(left: number | JsonNumber, right: number | JsonNumber): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right
  return compareSignificands(significand(numberText(left)), significand(numberText(right)))
}

function compareSignificands(left: string, right: string): number {
  const signs = signOf(left) - signOf(right)
  if (signs !== 0) return signs
  const order = compareSizes(left.replace('-', ''), right.replace('-', ''))
  return left.startsWith('-') ? -order : order
}

function signOf(significand: string): number {
  if (significand === '0') return 0
  return significand.startsWith('-') ? -1 : 1
}

/** Digits without needless zeros: the place of the first digit decides, then the digits, as text. */
function compareSizes(left: string, right: string): number {
  const [leftDigits = '', leftPower = '0'] = left.split('e')
  const [rightDigits = '', rightPower = '0'] = right.split('e')
  const leftPlace = BigInt(leftPower) + BigInt(leftDigits.length)
  const rightPlace = BigInt(rightPower) + BigInt(rightDigits.length)
  if (leftPlace !== rightPlace) return leftPlace < rightPlace ? -1 : 1
  return leftDigits < rightDigits ? -1 : leftDigits > rightDigits ? 1 : 0
}
