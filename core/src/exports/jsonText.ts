const [QUOTE, BACKSLASH, LOWER_U] = [0x22, 0x5c, 0x75]
/** Below it, characters must be escaped. */
const SPACE = 0x20

/** What a letter behind a backslash means. */
const ESCAPES: Readonly<Record<number, number>> = Object.fromEntries(
  Object.entries({ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }).map(
    ([letter, meant]) => [letter.charCodeAt(0), meant.charCodeAt(0)],
  ),
)

/** Takes the place of half a pair, as where text is encoded. */
const REPLACEMENT = 0xfffd
const isHigh = (code: number) => code >= 0xd800 && code <= 0xdbff
const isLow = (code: number) => code >= 0xdc00 && code <= 0xdfff

/** `within` a text; it has `ended`; it is `wrong`, no text of JSON; it is `too long`. */
type State = 'within' | 'ended' | 'wrong' | 'too long'

/** Bytes that are gathered before they are put with those before. */
const PART_BYTES = 64 * 1024
/** No unit of UTF-16 takes more, with the half pair before it. */
const UNIT_BYTES_MAX = 6
/** A backslash, the letter u and four digits. */
const ESCAPE_BYTES = 6

/** A text of JSON, unescaped piece by piece as it arrives. No piece is kept: it may be used again when it was read. */
export class JsonText {
  readonly #bytesMax: number
  #parts: Buffer[] = []
  #part = Buffer.allocUnsafe(PART_BYTES)
  #length = 0
  #bytes = 0
  #state: State = 'within'
  /** An escape of which not all has arrived, from its backslash on. */
  #escape: number[] = []
  /** First half of a pair whose second one may follow; 0 without. */
  #high = 0

  /** @param bytesMax bytes that the text may have in UTF-8 */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get state(): State {
    return this.#state
  }

  /** Takes the text, as far as it was read. Not checked to be UTF-8. */
  take(): Buffer {
    const text = Buffer.concat([...this.#parts, this.#part.subarray(0, this.#length)])
    this.#parts = []
    this.#length = 0
    return text
  }

  /**
   * Reads `piece` from `from` up to `stop`.
   *
   * @returns where it ended: behind the quotation mark that ends the text, or at what is wrong
   */
  read(piece: Uint8Array, from: number, stop: number): number {
    let at = from
    while (at < stop && this.#state === 'within') {
      const byte = piece[at] ?? 0
      if (this.#escape.length > 0) {
        this.#escape.push(byte)
        if (this.#readEscape(this.#escape, 0, this.#escape.length) === 0) return at
        at += 1
      } else if (byte === BACKSLASH) {
        const end = Math.min(stop, at + ESCAPE_BYTES)
        const length = this.#readEscape(piece, at, end)
        if (length === 0) return at
        at += length
      } else {
        if (this.#high !== 0) this.#dropHalf()
        if (byte === QUOTE) this.#state = 'ended'
        else if (byte < SPACE) {
          this.#state = 'wrong'
          return at
        } else {
          const end = endOfPlain(piece, at, Math.min(stop, at + PART_BYTES))
          this.#make(end - at).set(piece.subarray(at, end), this.#length)
          this.#length += end - at
          at = end
          continue
        }
        at += 1
      }
    }
    if (this.#bytes + this.#length > this.#bytesMax) this.#state = 'too long'
    return at
  }

  /**
   * Reads the escape that begins at `from`. One that `to` cuts is kept until the rest has arrived.
   *
   * @returns how many bytes it took; 0 where it is wrong
   */
  #readEscape(bytes: ArrayLike<number>, from: number, to: number): number {
    const letter = bytes[from + 1]
    const meant = letter === undefined || from + 1 >= to ? undefined : ESCAPES[letter]
    if (meant !== undefined) {
      this.#escape = []
      this.#putUnit(meant)
      return 2
    }
    if (from + 1 < to && letter !== LOWER_U) {
      this.#state = 'wrong'
      return 0
    }
    let code = 0
    for (let at = from + 2; at < to; at += 1) {
      const digit = hexDigit(bytes[at] ?? 0)
      if (digit < 0) {
        this.#state = 'wrong'
        return 0
      }
      code = code * 16 + digit
    }
    if (to - from < ESCAPE_BYTES) {
      this.#escape = Array.from({ length: to - from }, (_, at) => bytes[from + at] ?? 0)
      return to - from
    }
    this.#escape = []
    this.#putUnit(code)
    return ESCAPE_BYTES
  }

  /** A unit of UTF-16, as an escape names it. */
  #putUnit(code: number): void {
    if (isLow(code) && this.#high !== 0) {
      this.#put(0x10000 + (this.#high - 0xd800) * 0x400 + (code - 0xdc00))
      this.#high = 0
      return
    }
    if (this.#high !== 0) this.#dropHalf()
    if (isHigh(code)) this.#high = code
    else this.#put(isLow(code) ? REPLACEMENT : code)
  }

  #dropHalf(): void {
    this.#put(REPLACEMENT)
    this.#high = 0
  }

  #put(code: number): void {
    this.#length = putCode(this.#make(UNIT_BYTES_MAX), this.#length, code)
  }

  /** The part that has room for so many bytes more. */
  #make(bytes: number): Buffer {
    if (this.#length + bytes > PART_BYTES) {
      this.#parts.push(this.#part.subarray(0, this.#length))
      this.#bytes += this.#length
      this.#part = Buffer.allocUnsafe(PART_BYTES)
      this.#length = 0
    }
    return this.#part
  }
}

/** Up to where bytes stand for themselves. */
function endOfPlain(piece: Uint8Array, from: number, stop: number): number {
  let at = from
  for (; at < stop; at += 1) {
    const byte = piece[at] ?? 0
    if (byte === QUOTE || byte === BACKSLASH || byte < SPACE) break
  }
  return at
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

/** @returns where the next one begins */
function putCode(out: Buffer, at: number, code: number): number {
  if (code < 0x80) {
    out[at] = code
    return at + 1
  }
  const bytes = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
  for (let index = bytes - 1; index > 0; index -= 1) {
    out[at + index] = 0x80 | ((code >> (6 * (bytes - 1 - index))) & 0x3f)
  }
  out[at] = ((0xf00 >> bytes) & 0xff) | (code >> (6 * (bytes - 1)))
  return at + bytes
}
