import { partName } from '@creel/core/engine/message'
import { isCredentialName } from '@creel/core/exports'

/** Characters of a text that are masked: from `start` up to, and without, `end`. */
export interface SecretSpan {
  readonly start: number
  readonly end: number
  /** Whether the mask must be a JSON string. */
  readonly isJson: boolean
}

/** Spans in the order of their start. A step without a span only says that some work was done. */
export type SecretSpans = Generator<SecretSpan | undefined, void, undefined>

/** Only the end of a longer name is checked. */
const NAME_CHARACTERS_MAX = 1024
/** Characters, or quotation marks, per step. */
const STEP = 4096

const NUMBER = /[-\d][-+\d.eE]*/y
const [QUOTE, BACKSLASH, COLON, AMPERSAND, EQUALS, QUESTION] = [0x22, 0x5c, 0x3a, 0x26, 0x3d, 0x3f]
const OPENING: ReadonlySet<number> = new Set([0x7b, 0x5b])
const CLOSING: ReadonlySet<number> = new Set([0x7d, 0x5d])
/** Comma and closing brackets. In JSON they follow a string that is a value. */
const ENDS_TEXT: ReadonlySet<number> = new Set([0x2c, ...CLOSING])
const BLANK: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d])

/**
 * Values of JSON members with the name of a credential. Reads the text without a parser, so that a body that was cut,
 * or is not JSON, is masked as well. If neither a colon, a comma nor a bracket follows a string, it may be the text
 * between two strings; its end quote is then taken for a start quote.
 *
 * Takes linear time. Whether a character is in a span depends on it and on the text before it, never on the text after
 * it.
 */
function* jsonSecrets(text: string): SecretSpans {
  let open = -1
  let isValue = false
  let isSecret = false
  let steps = 0
  for (let from = 0; ; ) {
    const quote = text.indexOf('"', from)
    if (quote < 0) break
    steps += 1
    if (steps % STEP === 0) yield
    from = quote + 1
    if (open < 0) {
      open = quote
      continue
    }
    if (isEscaped(text, open, quote)) continue
    if (isValue) {
      if (isSecret) yield { start: open, end: from, isJson: true }
      open = -1
      isValue = false
      continue
    }
    const after = afterBlanks(text, from)
    const sign = text.charCodeAt(after)
    if (sign !== COLON) {
      open = ENDS_TEXT.has(sign) ? -1 : quote
      continue
    }
    isSecret = isCredentialName(
      spelledOut(text.slice(Math.max(open + 1, quote - NAME_CHARACTERS_MAX), quote)),
    )
    const start = afterBlanks(text, after + 1)
    const first = text.charCodeAt(start)
    isValue = first === QUOTE
    open = isValue ? start : -1
    from = start
    if (isValue) from += 1
    else if (!isSecret) continue
    else if (OPENING.has(first)) {
      from = yield* closingOf(text, start)
      yield { start, end: from, isJson: true }
    } else {
      NUMBER.lastIndex = start
      from += NUMBER.exec(text)?.[0].length ?? 0
      if (from > start) yield { start, end: from, isJson: true }
    }
  }
  if (isValue && isSecret) yield { start: open, end: text.length, isJson: true }
}

const ESCAPE = /\\(?:u([0-9a-f]{4})|(.))/gi

/** A name in JSON without its escapes: `pass\u0077ord` is `password`. Its beginning may be cut. */
function spelledOut(name: string): string {
  if (!name.includes('\\')) return name
  return name.replaceAll(ESCAPE, (_escape, hex: string | undefined, character: string) =>
    hex === undefined ? character : String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

/** Whether an odd number of backslashes precedes the quotation mark, within the string that starts at `open`. */
function isEscaped(text: string, open: number, quote: number): boolean {
  let at = quote - 1
  while (at > open && text.charCodeAt(at) === BACKSLASH) at -= 1
  return (quote - at) % 2 === 0
}

function afterBlanks(text: string, from: number): number {
  let at = from
  while (BLANK.has(text.charCodeAt(at))) at += 1
  return at
}

/** Position after the bracket that closes the one at `start`; the end of the text if none does. */
function* closingOf(text: string, start: number): Generator<undefined, number, undefined> {
  let depth = 0
  let isText = false
  let steps = 0
  for (let at = start; at < text.length; at += 1) {
    steps += 1
    if (steps % STEP === 0) yield
    const character = text.charCodeAt(at)
    if (isText) {
      if (character === BACKSLASH) at += 1
      else isText = character !== QUOTE
    } else if (character === QUOTE) isText = true
    else if (OPENING.has(character)) depth += 1
    else if (CLOSING.has(character)) {
      depth -= 1
      if (depth === 0) return at + 1
    }
  }
  return text.length
}

/** Values of pairs of a query or a form with the name of a credential. Same guarantees as {@link jsonSecrets}. */
export function* pairSecrets(text: string): SecretSpans {
  let steps = 0
  for (let name = 0, at = 0; at < text.length; at += 1) {
    steps += 1
    if (steps % STEP === 0) yield
    const character = text.charCodeAt(at)
    if (character === AMPERSAND || character === QUESTION) name = at + 1
    if (character !== EQUALS || name === at) continue
    const next = text.indexOf('&', at)
    const end = next < 0 ? text.length : next
    const isCut = at + 1 === text.length
    if (!isCut && isCredentialName(unescaped(text.slice(Math.max(name, at - NAME_CHARACTERS_MAX), at)))) {
      yield { start: at + 1, end, isJson: false }
    }
    at = end
    name = end + 1
  }
}

/** The name or value of a pair without its escapes: `user%5Bpassword%5D` is `user[password]`. */
export function unescaped(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** The first line of a multipart body, which begins each of its parts. */
const DELIMITER = /^(?:\r?\n){0,8}(--[^\r\n]{1,70}?)[ \t]*\r?\n/
/** Header lines of a part beyond these are not read. */
const PART_HEAD_MAX = 4096
const DISPOSITION = /^content-disposition:.*$/im

/**
 * Values of parts of a multipart body with the name of a credential, each up to the end of the delimiter behind it. Same
 * guarantees as {@link jsonSecrets}.
 */
function* partSecrets(text: string, delimiter: string): SecretSpans {
  for (let from = 0; from < text.length; ) {
    yield
    const next = text.indexOf(`\n${delimiter}`, from)
    const end = next < 0 ? text.length : next + 1 + delimiter.length
    const part = text.slice(from, Math.min(end, from + PART_HEAD_MAX))
    const blank = /\r?\n\r?\n/.exec(part)
    const head = DISPOSITION.exec(part.slice(0, blank?.index ?? 0))?.[0]
    const start = blank === null ? end : from + blank.index + blank[0].length
    if (start < end && head !== undefined && isCredentialName(partName(head) ?? ''))
      yield { start, end, isJson: false }
    from = end
  }
}

/** Secrets of a body: of its JSON, and of its parts or pairs if it begins like multipart or a form. */
export function bodySecrets(text: string): SecretSpans {
  const delimiter = DELIMITER.exec(text)?.[1]
  const spans =
    delimiter === undefined ? jsonSecrets(text) : merged(jsonSecrets(text), partSecrets(text, delimiter))
  return isForm(text) ? merged(spans, pairSecrets(text)) : spans
}

/** Start of a form: the name of the first pair, which does not begin like JSON or XML. Longer names do not count. */
const FORM_NAME = /^[ \t\r\n]{0,1024}(?:(?:[^{[< \t\r\n=]|\[[^\][{"\s]{0,1024}\])[^\r\n=]{0,1023})?=/

const isForm = (text: string) => FORM_NAME.test(text)

/** Merges two streams of spans by their start. Spans may overlap. */
function* merged(left: SecretSpans, right: SecretSpans): SecretSpans {
  const first = function* (spans: SecretSpans): Generator<undefined, SecretSpan | undefined, undefined> {
    for (;;) {
      const { done, value } = spans.next()
      if (done === true) return undefined
      if (value !== undefined) return value
      yield
    }
  }
  let a = yield* first(left)
  let b = yield* first(right)
  while (a !== undefined || b !== undefined) {
    if (b === undefined || (a !== undefined && a.start <= b.start)) {
      yield a
      a = yield* first(left)
    } else {
      yield b
      b = yield* first(right)
    }
  }
}
