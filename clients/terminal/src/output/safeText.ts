import { styleText } from 'node:util'

/** Text for a terminal. A plain string is untrusted and is escaped. */
export type Text = string | SafeText

/** One of `node:util`'s styles, e.g. `bold`, or several. */
export type Style = Parameters<typeof styleText>[0]

/** Literals only, so that no untrusted text gets between the parts unescaped. */
type Separator = '' | ' ' | '  ' | '\t'

/**
 * Characters that a terminal interprets or that change how the rest is read: C0, DEL, C1, the marks of writing
 * direction, the line and paragraph separators, and halves of surrogate pairs.
 */
const HIDDEN = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]/gu
const HIDDEN_BUT_TABS = /(?!\t)[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]/gu

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** A JSON value on one line. Hidden characters become `\u` escapes, which parse to the same value. */
export function jsonText(value: unknown): string {
  return (JSON.stringify(value) ?? 'null').replace(HIDDEN, escaped)
}

/**
 * One line of text that a terminal displays without interpreting it. Hidden characters read `\u001b`, and the only
 * control sequences are our own styles. Instances are made only by the functions here, and nothing else can be printed.
 */
export class SafeText {
  readonly #text: string

  private constructor(text: string) {
    this.#text = text
  }

  /** The text on one line: line breaks and tabs are escaped, too. */
  static of(text: Text): SafeText {
    return text instanceof SafeText ? text : new SafeText(text.replace(HIDDEN, escaped))
  }

  /** The lines of a longer text. Tabs and line feeds keep their meaning; a CR before a line feed is removed. */
  static lines(text: string): SafeText[] {
    return text.split(/\r?\n/).map((line) => new SafeText(line.replace(HIDDEN_BUT_TABS, escaped)))
  }

  /** The text in a style, if the stream is a terminal and `NO_COLOR` allows it. */
  static styled(style: Style, text: Text, stream: NodeJS.WriteStream = process.stdout): SafeText {
    const safe = SafeText.of(text)
    return safe.#text === '' ? safe : new SafeText(styleText(style, safe.#text, { stream }))
  }

  /** The parts joined in their order. */
  static joined(parts: readonly Text[], separator: Separator = ''): SafeText {
    return new SafeText(parts.map((part) => SafeText.of(part).#text).join(separator))
  }

  get width(): number {
    return Bun.stringWidth(this.#text)
  }

  /** Cuts the text to this many columns, with an ellipsis if something is missing. */
  cut(columns: number): SafeText {
    if (this.width <= columns) return this
    // A slice may exceed the limit by one column if it ends with a character of two columns.
    let end = Math.max(0, columns - 1)
    while (end > 0 && Bun.stringWidth(Bun.sliceAnsi(this.#text, 0, end)) >= columns) end -= 1
    return new SafeText(`${end === 0 ? '' : Bun.sliceAnsi(this.#text, 0, end)}…`)
  }

  /** Pads the text to this many columns. */
  padded(columns: number): SafeText {
    return new SafeText(this.#text + ' '.repeat(Math.max(0, columns - this.width)))
  }

  /** The text without trailing blanks. */
  trimmed(): SafeText {
    return new SafeText(this.#text.trimEnd())
  }

  /** Wraps the text into lines of at most this many columns. */
  wrapped(columns: number): SafeText[] {
    if (this.width <= columns) return [this]
    return Bun.wrapAnsi(this.#text, columns, { hard: true, trim: false })
      .split('\n')
      .map((line) => new SafeText(line))
  }

  toString(): string {
    return this.#text
  }
}
