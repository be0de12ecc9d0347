import { isJson } from '../json.ts'

/** A piece of a line, by its kind. */
export interface Piece {
  readonly kind: 'name' | 'text' | 'number' | 'word' | 'mark' | 'colon'
  readonly text: string
}

/** A line of a formatted body. Digits, order and repeated names are unchanged. */
export interface Line {
  readonly depth: number
  readonly pieces: readonly Piece[]
  /** Path of the line's value, as conditions and rules write it: `body.data.lines[0].id`. */
  readonly path: string
  /** Line number, if it differs from the line's position; null for the continuation of a line. */
  readonly number?: number | null
  /** For a line that opens an object or a list: the index of the line that closes it, and the number of members. */
  readonly opens?: { readonly end: number; readonly members: number }
}

const TOKEN = /\s*(?:("(?:[^"\\]|\\.)*")|(-?\d[\d.eE+-]*)|(true|false|null)|([{}[\],:]))/y
const BARE_MEMBER = /^[^.[\]"\s{}]+$/

interface Open {
  readonly line: number
  readonly isList: boolean
  readonly path: string
  members: number
  name: string
}

/**
 * Formats JSON text as lines, one member or element a line. Tokens keep their exact text.
 *
 * @returns null for text that is not JSON
 */
export function jsonLines(source: string): Line[] | null {
  // The native parser only validates: its result would lose digits, order and repeats.
  return isJson(source) ? new Layout(source).lines() : null
}

/** Walks the tokens of a valid text. */
class Layout {
  readonly #lines: {
    depth: number
    pieces: Piece[]
    path: string
    opens?: { end: number; members: number }
  }[] = []
  readonly #open: Open[] = []
  #pieces: Piece[] = []
  #path = 'body'
  #isNameNext = false

  constructor(readonly source: string) {}

  lines(): Line[] {
    const token = new RegExp(TOKEN)
    for (;;) {
      const found = token.exec(this.source)
      if (found === null) break
      const [, text, number, word, mark] = found
      if (text !== undefined && this.#isNameNext) this.#name(text)
      else if (text !== undefined) this.#value('text', text)
      else if (number !== undefined) this.#value('number', number)
      else if (word !== undefined) this.#value('word', word)
      else if (mark === '{' || mark === '[') this.#begin(mark, token)
      else if (mark === ',') this.#comma()
      else if (mark === ':') this.#pieces.push({ kind: 'colon', text: ':' })
      else if (mark !== undefined) this.#end(mark)
    }
    this.#flush()
    return this.#lines
  }

  #name(text: string): void {
    const inside = this.#open.at(-1)
    if (inside !== undefined) inside.name = String(JSON.parse(text))
    this.#isNameNext = false
    this.#path = this.#place()
    this.#pieces.push({ kind: 'name', text })
  }

  #value(kind: Piece['kind'], text: string): void {
    this.#path = this.#place()
    this.#pieces.push({ kind, text })
  }

  #begin(mark: string, token: RegExp): void {
    this.#path = this.#place()
    const empty = /\s*[}\]]/y
    empty.lastIndex = token.lastIndex
    const closed = empty.exec(this.source)
    if (closed !== null) {
      token.lastIndex = empty.lastIndex
      this.#pieces.push({ kind: 'mark', text: mark + closed[0].trim() })
      return
    }
    this.#pieces.push({ kind: 'mark', text: mark })
    const opened = { line: this.#lines.length, isList: mark === '[', path: this.#path, members: 0, name: '' }
    this.#flush()
    this.#open.push(opened)
    this.#isNameNext = !opened.isList
  }

  #comma(): void {
    this.#pieces.push({ kind: 'mark', text: ',' })
    this.#flush()
    const inside = this.#open.at(-1)
    if (inside === undefined) return
    inside.members += 1
    this.#isNameNext = !inside.isList
  }

  #end(mark: string): void {
    this.#flush()
    this.#isNameNext = false
    const closed = this.#open.pop()
    if (closed === undefined) return
    const opening = this.#lines[closed.line]
    if (opening !== undefined) opening.opens = { end: this.#lines.length, members: closed.members + 1 }
    this.#path = closed.path
    this.#pieces.push({ kind: 'mark', text: mark })
  }

  #flush(): void {
    if (this.#pieces.length === 0) return
    this.#lines.push({ depth: this.#open.length, pieces: this.#pieces, path: this.#path })
    this.#pieces = []
  }

  #place(): string {
    const inside = this.#open.at(-1)
    if (inside === undefined) return 'body'
    if (inside.isList) return `${inside.path}[${inside.members}]`
    return memberPath(inside.path, inside.name)
  }
}

/** The path of a member of an object. */
export const memberPath = (path: string, name: string): string =>
  BARE_MEMBER.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`

/** The value of a line, without quotes; empty for a line that opens or closes. */
export function plainValueOf(line: Line): string {
  const text = jsonValueOf(line) ?? ''
  return text.startsWith('"') ? String(JSON.parse(text)) : text
}

/** The value of a line, as JSON; undefined for a line that opens or closes. */
export function jsonValueOf(line: Line): string | undefined {
  return line.pieces.findLast(({ kind }) => kind === 'text' || kind === 'number' || kind === 'word')?.text
}
