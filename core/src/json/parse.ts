import { memberOf, type Node, writeJson } from './nodes.ts'
import { type MutableJson, numberFromText, toPlain } from './value.ts'

/** How deep arrays and objects may nest (CONTRACT R18): deeper text is not read at all. */
export const MAX_JSON_DEPTH = 256

class Unreadable extends Error {}

const BACKSLASH = 92
const QUOTE = 34
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
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const HEX4 = /^[0-9a-fA-F]{4}$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 8259 forbids exactly these inside a string.
const CONTROL = /[\x00-\x1f]/

/**
 * Reads JSON text (RFC 8259) without losing anything: order of members, digits of numbers. Of duplicate names the
 * last counts (CONTRACT R18). Linear in the length of the text; recursion is bounded by `maxDepth`.
 *
 * @returns undefined when the text is not JSON or nests deeper than `maxDepth`
 */
export function parseJson(
  text: string,
  maxDepth: number = MAX_JSON_DEPTH,
): { value: MutableJson } | undefined {
  try {
    return { value: new Reader(text, maxDepth).document() }
  } catch (error) {
    if (error instanceof Unreadable) return undefined
    throw error
  }
}

class Reader {
  private at = 0

  constructor(
    private readonly text: string,
    private readonly maxDepth: number,
  ) {}

  document(): MutableJson {
    this.skipSpace()
    const value = this.value(this.maxDepth)
    this.skipSpace()
    if (this.at !== this.text.length) throw new Unreadable()
    return value
  }

  private skipSpace(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.at)
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return
      this.at += 1
    }
  }

  private value(depthLeft: number): MutableJson {
    switch (this.text[this.at]) {
      case '{':
        return this.object(depthLeft)
      case '[':
        return this.array(depthLeft)
      case '"':
        return this.string()
      case 't':
        return this.word('true', true)
      case 'f':
        return this.word('false', false)
      case 'n':
        return this.word('null', null)
      default:
        return this.number()
    }
  }

  private word<Value>(word: string, value: Value): Value {
    if (!this.text.startsWith(word, this.at)) throw new Unreadable()
    this.at += word.length
    return value
  }

  private number(): MutableJson {
    NUMBER.lastIndex = this.at
    const found = NUMBER.exec(this.text)
    if (found === null) throw new Unreadable()
    this.at += found[0].length
    return numberFromText(found[0])
  }

  private string(): string {
    const start = this.at + 1
    let end = this.text.indexOf('"', start)
    if (end === -1) throw new Unreadable()
    const backslash = this.text.charCodeAt(end - 1) === BACKSLASH ? end : this.firstBackslash(start, end)
    if (backslash !== -1) end = this.closingQuote(start)
    const raw = this.text.slice(start, end)
    if (CONTROL.test(raw)) throw new Unreadable()
    this.at = end + 1
    return backslash === -1 ? raw : withoutEscapes(raw)
  }

  private firstBackslash(start: number, end: number): number {
    for (let at = start; at < end; at += 1) if (this.text.charCodeAt(at) === BACKSLASH) return at
    return -1
  }

  private closingQuote(start: number): number {
    for (let at = start; at < this.text.length; at += 1) {
      const code = this.text.charCodeAt(at)
      if (code === QUOTE) return at
      if (code === BACKSLASH) at += 1
    }
    throw new Unreadable()
  }

  private array(depthLeft: number): MutableJson {
    if (depthLeft <= 0) throw new Unreadable()
    const items: MutableJson[] = []
    this.at += 1
    this.skipSpace()
    if (this.take(']')) return items
    for (;;) {
      this.skipSpace()
      items.push(this.value(depthLeft - 1))
      this.skipSpace()
      if (this.take(']')) return items
      if (!this.take(',')) throw new Unreadable()
    }
  }

  private object(depthLeft: number): MutableJson {
    if (depthLeft <= 0) throw new Unreadable()
    const members = new Map<string, MutableJson>()
    this.at += 1
    this.skipSpace()
    if (this.take('}')) return members
    for (;;) {
      this.skipSpace()
      if (this.text.charCodeAt(this.at) !== QUOTE) throw new Unreadable()
      const name = this.string()
      this.skipSpace()
      if (!this.take(':')) throw new Unreadable()
      this.skipSpace()
      members.set(name, this.value(depthLeft - 1))
      this.skipSpace()
      if (this.take('}')) return members
      if (!this.take(',')) throw new Unreadable()
    }
  }

  private take(mark: string): boolean {
    if (this.text[this.at] !== mark) return false
    this.at += 1
    return true
  }
}

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

/**
 * The text of one part of a JSON document, numbers spelled and members ordered as they were sent: what is stored of
 * rules and conditions (CONTRACT R11).
 *
 * @param text null when the document did not come as JSON text
 * @returns undefined when there is no such part
 */
export function memberText(text: string | null, path: readonly (string | number)[]): string | undefined {
  let node: Node = text === null ? undefined : parseJson(text)?.value
  for (const part of path) node = Array.isArray(node) ? node[Number(part)] : memberOf(node, String(part))
  return node === undefined ? undefined : writeJson(node)
}

/**
 * JSON text that we stored, as a value for an answer: `JSON.stringify` prints its numbers as they were spelled.
 *
 * @throws Error when it is not JSON, which nothing stored is
 */
export function shownJson(text: string): unknown {
  const read = parseJson(text)
  if (read === undefined) throw new Error('Stored JSON text is not readable.')
  return toPlain(read.value)
}
