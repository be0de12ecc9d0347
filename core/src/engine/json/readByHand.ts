import { type JsonNumber, type MutableJson, numberFromText } from './value.ts'

/** Reads the text of a number. */
export type ReadNumber = (text: string) => number | JsonNumber

/** Thrown inside this file only: the text is not JSON, or nests too deep. */
class Unreadable extends Error {}

/**
 * Reads JSON text (RFC 8259) losslessly: order of members and digits of numbers are kept. If a name occurs twice, the
 * last one counts. Linear in the length of the text; recursion is bounded by `maxDepth`.
 *
 * @returns undefined when the text is not JSON or nests deeper than `maxDepth`
 */
export function readByHand(
  text: string,
  maxDepth: number,
  numberOf: ReadNumber = numberFromText,
): { value: MutableJson } | undefined {
  try {
    return { value: readDocument(text, maxDepth, numberOf) }
  } catch (error) {
    if (error instanceof Unreadable) return undefined
    throw error
  }
}

const TAB = 9
const NEWLINE = 10
const RETURN = 13
const SPACE = 32
const QUOTE = 34
const COMMA = 44
const POINT = 46
const ZERO = 48
const NINE = 57
const COLON = 58
const UPPER_E = 69
const OPEN_LIST = 91
const BACKSLASH = 92
const CLOSE_LIST = 93
const LOWER_E = 101
const LOWER_F = 102
const LOWER_N = 110
const LOWER_T = 116
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y

/** A power of two. */
const NAME_SLOTS = 64

/** Integers of so many digits are doubles that print as they were written. */
const SAFE_DIGITS = 15

/**
 * Works on character codes and closes over its position in the text. With methods and one-letter strings it would take
 * four times as long, and every transformed delivery comes through here.
 */
function readDocument(text: string, maxDepth: number, numberOf: ReadNumber): MutableJson {
  let at = 0
  const names: string[] = []
  const document = afterSpace(readValue, maxDepth)
  skipSpace()
  if (at !== text.length) throw new Unreadable()
  return document

  function skipSpace(): void {
    // Past the end the code is NaN, and the comparison is false.
    for (let code = text.charCodeAt(at); code <= SPACE; code = text.charCodeAt(at)) {
      if (code !== SPACE && code !== NEWLINE && code !== RETURN && code !== TAB) return
      at += 1
    }
  }

  function afterSpace(read: (depthLeft: number) => MutableJson, depthLeft: number): MutableJson {
    skipSpace()
    return read(depthLeft)
  }

  function readValue(depthLeft: number): MutableJson {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        return readString()
      case OPEN_OBJECT:
        return readObject(depthLeft)
      case OPEN_LIST:
        return readList(depthLeft)
      case LOWER_T:
        return readWord('true', true)
      case LOWER_F:
        return readWord('false', false)
      case LOWER_N:
        return readWord('null', null)
      default:
        return readNumber()
    }
  }

  function readWord<Value>(word: string, value: Value): Value {
    if (!text.startsWith(word, at)) throw new Unreadable()
    at += word.length
    return value
  }

  function readNumber(): MutableJson {
    const start = at
    let code = text.charCodeAt(at)
    let integer = 0
    while (code >= ZERO && code <= NINE) {
      integer = integer * 10 + (code - ZERO)
      at += 1
      code = text.charCodeAt(at)
    }
    const length = at - start
    const isPlain =
      length > 0 && length <= SAFE_DIGITS && code !== POINT && code !== UPPER_E && code !== LOWER_E
    if (isPlain && (length === 1 || text.charCodeAt(start) !== ZERO)) return integer
    return readAnyNumber(start)
  }

  function readAnyNumber(start: number): MutableJson {
    NUMBER.lastIndex = start
    if (!NUMBER.test(text)) throw new Unreadable()
    at = NUMBER.lastIndex
    return numberOf(text.slice(start, at))
  }

  function readString(): string {
    const start = at + 1
    for (at = start; at < text.length; at += 1) {
      const code = text.charCodeAt(at)
      if (code === QUOTE) {
        at += 1
        return text.slice(start, at - 1)
      }
      if (code === BACKSLASH) return readEscapedString(start)
      if (code < SPACE) throw new Unreadable()
    }
    throw new Unreadable()
  }

  /** Objects of a list mostly have the same names: a known name is compared, not cut out and hashed again. */
  function readName(): string {
    const start = at + 1
    const slot = (text.charCodeAt(start) * 7 + text.charCodeAt(start + 1)) & (NAME_SLOTS - 1)
    const known = names[slot]
    if (
      known !== undefined &&
      text.charCodeAt(start + known.length) === QUOTE &&
      text.startsWith(known, start)
    ) {
      at = start + known.length + 1
      return known
    }
    const name = readString()
    // A name with escapes is shorter than its text, and would match other text.
    if (at === start + name.length + 1) names[slot] = name
    return name
  }

  function readEscapedString(start: number): string {
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at)
      if (code < SPACE) throw new Unreadable()
      if (code === QUOTE) {
        at += 1
        return withoutEscapes(text.slice(start, at - 1))
      }
      if (code === BACKSLASH) at += 1
    }
    throw new Unreadable()
  }

  function readList(depthLeft: number): MutableJson {
    if (depthLeft <= 0) throw new Unreadable()
    const items: MutableJson[] = []
    at += 1
    skipSpace()
    if (takes(CLOSE_LIST)) return items
    for (;;) {
      items.push(afterSpace(readValue, depthLeft - 1))
      skipSpace()
      if (takes(CLOSE_LIST)) return items
      if (!takes(COMMA)) throw new Unreadable()
    }
  }

  function readObject(depthLeft: number): MutableJson {
    if (depthLeft <= 0) throw new Unreadable()
    const members = new Map<string, MutableJson>()
    at += 1
    skipSpace()
    if (takes(CLOSE_OBJECT)) return members
    for (;;) {
      skipSpace()
      if (text.charCodeAt(at) !== QUOTE) throw new Unreadable()
      const name = readName()
      skipSpace()
      if (!takes(COLON)) throw new Unreadable()
      members.set(name, afterSpace(readValue, depthLeft - 1))
      skipSpace()
      if (takes(CLOSE_OBJECT)) return members
      if (!takes(COMMA)) throw new Unreadable()
    }
  }

  function takes(code: number): boolean {
    if (text.charCodeAt(at) !== code) return false
    at += 1
    return true
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}
const HEX4 = /^[0-9a-fA-F]{4}$/

function withoutEscapes(raw: string): string {
  let text = ''
  let from = 0
  for (;;) {
    const backslash = raw.indexOf('\\', from)
    if (backslash === -1) return text + raw.slice(from)
    text += raw.slice(from, backslash)
    const mark = raw[backslash + 1] ?? ''
    if (mark === 'u') {
      const digits = raw.slice(backslash + 2, backslash + 6)
      if (!HEX4.test(digits)) throw new Unreadable()
      text += String.fromCharCode(Number.parseInt(digits, 16))
      from = backslash + 6
    } else {
      const meant = ESCAPES[mark]
      if (meant === undefined) throw new Unreadable()
      text += meant
      from = backslash + 2
    }
  }
}
