import { isNumberText, JsonNumber, type LazyJson, type Node, numberForLooks } from './value.ts'

// JSON by the engine's own `JSON.parse` and `JSON.stringify`, several times as fast as by hand, where they lose
// nothing. They lose digits that a double prints differently, and put members whose names are integers first. They are
// slow where many names differ. For such documents the functions here return undefined, and the caller reads or writes
// by hand.

/** A result of `JSON.parse`. */
type Plain = null | boolean | string | number | Plain[] | { readonly [name: string]: Plain }

/**
 * A number that a double may print differently: minus zero, one of many digits, one with an exponent or with a zero at
 * the end of its fraction. A number in JSON text is always between these marks, so none is missed. A string that looks
 * like one only costs time.
 */
const INEXACT_NUMBER =
  /(?:^|[[,:\s])(?:-0|-?(?:\d{16,}|\d+(?:\.\d+)?[eE][+-]?\d+|\d+\.\d*0|\d{10,}\.\d+|\d+\.\d{7,}))(?=[\s,\]}]|$)/

/** `JSON.parse` is slow with deep nesting; text up to this length cannot nest deep enough to matter. */
const SHALLOW_LENGTH = 65_536

/**
 * Reads JSON text with `JSON.parse`.
 *
 * @returns undefined for text that is not JSON, that nests deeper than `maxDepth`, or that might lose digits or order
 */
export function readNatively(text: string, maxDepth: number): { value: LazyJson } | undefined {
  if (INEXACT_NUMBER.test(text)) return undefined
  if (text.length > SHALLOW_LENGTH && (nestsDeeper(text, maxDepth) || variesInNames(text))) return undefined
  try {
    const value: Plain = JSON.parse(text)
    return isFaithful(value, maxDepth) ? { value } : undefined
  } catch {
    return undefined
  }
}

/**
 * Whether a result of {@link parseForLooks} has lost nothing of its text, so that it is what {@link readNatively} would
 * read.
 */
export function isLossless(value: unknown, text: string, maxDepth: number): value is LazyJson {
  return !INEXACT_NUMBER.test(text) && isFaithful(value, maxDepth)
}

/** So many digits as a double may not hold, as in `9007199254740993` or `1732867200.123456789`. */
const LONG_NUMBER = /[\d.]{16}/
/** A number that may be beyond the doubles, as in `1e400`, or less than all that are precise, as in `1e-320`. */
const EXTREME_NUMBER = /\d[eE][+-]?\d{3,}(?=[\s,\]}]|$)/
/** Both of them between the marks of JSON: without most texts that only hold digits, such as identifiers. */
const RISKY_NUMBERS = /(?:^|[[,:\s])(-?(?:\d{16}|[\d.]{17}|[\d.]+[eE][+-]?\d{3})[\d.eE+-]*)(?=[\s,\]}]|$)/g

/**
 * Whether looks at text need a reader by hand: for a number whose digits `JSON.parse` loses, and where many names
 * differ.
 */
export function needsHandForLooks(text: string): boolean {
  return losesDigits(text) || (text.length > SHALLOW_LENGTH && variesInNames(text))
}

/**
 * Whether `JSON.parse` reads a number of a text as another one. All others have at most 15 digits, of which a double
 * loses none.
 */
function losesDigits(text: string): boolean {
  if (!(LONG_NUMBER.test(text) || EXTREME_NUMBER.test(text))) return false
  for (const [, number = ''] of text.matchAll(RISKY_NUMBERS))
    if (isNumberText(number) && numberForLooks(number) instanceof JsonNumber) return true
  return false
}

/** Names of a text that are compared, and how many of them may differ. The documents of an API have fewer. */
const COMPARED_NAMES = 1024
const DIFFERENT_NAMES_MAX = 256
const NAME = /"([^"]*)"\s*:/g

/**
 * Whether many names in a text differ, by names at random places. For an object with a name that it has not seen before,
 * `JSON.parse` takes ten times as long as for another: over 0.2 s for 1 MiB.
 */
function variesInNames(text: string): boolean {
  const names = new Set<string>()
  const stepMax = (2 * text.length) / COMPARED_NAMES
  NAME.lastIndex = 0
  for (let found = NAME.exec(text); found !== null; found = NAME.exec(text)) {
    names.add(found[1] ?? '')
    NAME.lastIndex += Math.floor(Math.random() * stepMax)
  }
  return names.size > DIFFERENT_NAMES_MAX
}

/**
 * Whether the objects of a parsed value are in the order of the text, nest at most `depthLeft` deep, and have no member
 * `__proto__`, which would set the prototype of an object that is built from the members.
 */
function isFaithful(value: unknown, depthLeft: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (depthLeft <= 0) return false
  if (Array.isArray(value)) {
    for (const item of value) if (!isFaithful(item, depthLeft - 1)) return false
    return true
  }
  if (!hasMembers(value)) return true
  let isFirst = true
  for (const name in value) {
    // `JSON.parse` puts names that are integers first, wherever they were in the text.
    if ((isFirst && beginsWithDigit(name)) || name === '__proto__') return false
    isFirst = false
    if (!isFaithful(value[name], depthLeft - 1)) return false
  }
  return true
}

/** False also for maps, which are read by hand and so have lost nothing. */
function hasMembers(value: object): value is Readonly<Record<string, unknown>> {
  return !(value instanceof JsonNumber || value instanceof Map)
}

/** True of all names that are integers. Other names that begin with a digit are read or written by hand needlessly. */
function beginsWithDigit(name: string): boolean {
  const code = name.charCodeAt(0)
  return code >= 48 && code <= 57
}

const QUOTE = 34
const COMMA = 44
const COLON = 58
const BACKSLASH = 92

/** Counts brackets outside of strings, to find nesting that would exhaust the stack before the text is parsed. */
export function nestsDeeper(text: string, maxDepth: number): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    // `[` and `{`, `]` and `}` are one bit apart.
    const bracket = text.charCodeAt(at) & ~32
    if (bracket === 91) depth += 1
    else if (bracket === 93) depth -= 1
    else if (text.charCodeAt(at) === QUOTE) at = endOfString(text, at + 1)
    if (depth > maxDepth) return true
  }
  return false
}

/**
 * The texts of the items of a list. Only its own commas and brackets are looked at: it may nest to any depth, and an
 * item may be no JSON.
 *
 * @returns undefined for text that is no list
 */
export const itemTexts = (text: string): string[] | undefined => partsOf(text, '[]')

/** The texts of the values of an object by those of their names, as {@link itemTexts}. Of equal names the last counts. */
export function memberTexts(text: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>()
  for (const part of partsOf(text, '{}') ?? []) {
    const end = part.startsWith('"') ? endOfString(part, 1) + 1 : 0
    const colon = part.indexOf(':', end)
    if (colon >= 0) members.set(part.slice(0, end), part.slice(colon + 1).trim())
  }
  return members
}

function partsOf(text: string, brackets: '[]' | '{}'): string[] | undefined {
  const whole = text.trim()
  if (!(whole.startsWith(brackets.charAt(0)) && whole.endsWith(brackets.charAt(1)))) return undefined
  const parts: string[] = []
  let [from, depth] = [1, 0]
  for (let at = 1; at < whole.length - 1; at += 1) {
    const code = whole.charCodeAt(at)
    if (code === QUOTE) at = endOfString(whole, at + 1)
    else if (code === COMMA && depth === 0) {
      parts.push(whole.slice(from, at).trim())
      from = at + 1
    } else if ((code & ~32) === 91) depth += 1
    else if ((code & ~32) === 93) depth -= 1
    if (depth < 0) return undefined
  }
  const last = whole.slice(from, -1).trim()
  if (last !== '' || parts.length > 0) parts.push(last)
  return depth === 0 ? parts : undefined
}

/** Bounds of long JSON that rules read. Nothing can interrupt a reader. It takes up to a microsecond a value or name. */
const READ_BOUNDS = { values: 2_000_000, names: 100_000 } as const
/** Shorter text is read whatever it holds. */
const BOUNDED_LENGTH = 1_048_576
/** Bits of a set of hashes, so many that few of the names at the bound share one. */
const NAME_BITS = 22
/** Names that share a hash cannot be made in advance. */
const SEED = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0

/** Whether JSON has more values, or different names, than rules read. */
export function holdsTooMuch(text: string): boolean {
  return text.length > BOUNDED_LENGTH && holdsMore(text, READ_BOUNDS)
}

/** Whether JSON has more values or different names than these, counted without reading it. Names are counted by hashes. */
export function holdsMore(text: string, most: { readonly values: number; readonly names: number }): boolean {
  if (text.length <= Math.min(most.values, most.names)) return false
  const known = new Uint32Array(2 ** (NAME_BITS - 5))
  let [values, names] = [0, 0]
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      const start = at + 1
      at = endOfString(text, start)
      if (!isFollowedByColon(text, at + 1)) continue
      const hash = hashOf(text, start, at)
      const word = hash >>> 5
      const bit = 1 << (hash & 31)
      if (((known[word] ?? 0) & bit) === 0) names += 1
      known[word] = (known[word] ?? 0) | bit
    } else if (code === COMMA || (code & ~32) === 91) values += 1
    if (values > most.values || names > most.names) return true
  }
  return false
}

function isFollowedByColon(text: string, from: number): boolean {
  let at = from
  // Past the end the code is NaN, and the comparison is false.
  while (text.charCodeAt(at) <= 32) at += 1
  return text.charCodeAt(at) === COLON
}

/** FNV-1a, and its best bits. */
function hashOf(text: string, from: number, to: number): number {
  let hash = SEED
  for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 16_777_619)
  return (hash ^ (hash >>> 15)) >>> (32 - NAME_BITS)
}

/** Deeper JSON is not indented. Its lines would be mostly blanks, in all hundreds of times as long as the text. */
const INDENTED_DEPTH_MAX = 16

/** Whether JSON nests too deep to be written with indentation. */
export const isTooDeepToIndent = (text: string): boolean => nestsDeeper(text, INDENTED_DEPTH_MAX)

/** Position of the quote that ends a string; the length of the text if there is none. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 1)) {
    let before = at
    while (before > from && text.charCodeAt(before - 1) === BACKSLASH) before -= 1
    // Backslashes escape each other in pairs.
    if ((at - before) % 2 === 0) return at
  }
  return text.length
}

/**
 * Writes a node with `JSON.stringify`.
 *
 * @returns undefined for a node whose digits or order only the writer by hand keeps, or with large maps
 */
export function writeNatively(node: Node): string | undefined {
  const plain = plainOf(node)
  return plain === undefined ? undefined : JSON.stringify(plain)
}

/** Maps with more members in all are written by hand: each may have a new name, which is slow as in {@link variesInNames}. */
const MAP_MEMBERS_MAX = 1000

/**
 * A node in plain objects and arrays, as `JSON.parse` of its text makes it.
 *
 * @returns undefined where {@link writeNatively} does
 */
export function plainOf(node: Node): unknown {
  let membersLeft = MAP_MEMBERS_MAX
  const plain = (part: Node): unknown => {
    if (Array.isArray(part)) {
      const items: unknown[] = []
      for (const item of part) {
        const made = plain(item)
        if (made === undefined) return undefined
        items.push(made)
      }
      return items
    }
    // `JSON.stringify` could print it, but takes longer for one than for ten other values.
    if (part instanceof JsonNumber) return undefined
    // A result of `JSON.parse` is printed unchanged.
    if (!(part instanceof Map)) return part
    membersLeft -= part.size
    if (membersLeft < 0) return undefined
    const members: Record<string, unknown> = Object.create(null)
    for (const [name, member] of part) {
      if (beginsWithDigit(name)) return undefined
      const made = plain(member)
      if (made === undefined) return undefined
      members[name] = made
    }
    return members
  }
  return plain(node)
}
