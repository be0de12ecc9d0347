const [QUOTE, BACKSLASH, LOWER_U] = [0x22, 0x5c, 0x75]
/** Characters below it must be escaped. */
const SPACE = 0x20

/** Meaning of the letter after a backslash. */
const ESCAPES: Readonly<Record<number, number>> = Object.fromEntries(
  Object.entries({ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }).map(
    ([letter, meant]) => [letter.charCodeAt(0), meant.charCodeAt(0)],
  ),
)

/** Replaces an unpaired surrogate, as text encoders do. */
const REPLACEMENT = 0xfffd
const isHigh = (code: number) => code >= 0xd800 && code <= 0xdbff
const isLow = (code: number) => code >= 0xdc00 && code <= 0xdfff

/** `within` a string; `ended`; `wrong`: not a JSON string; `too long`. */
type State = 'within' | 'ended' | 'wrong' | 'too long'

/** Size of the buffer that collects bytes before they are added to the others. */
const PART_BYTES = 64 * 1024
/** Longest UTF-8 form of a UTF-16 unit, including a pending surrogate before it. */
const UNIT_BYTES_MAX = 6
/** A backslash, the letter u and four digits. */
const ESCAPE_BYTES = 6

/**
 * A JSON string, unescaped piece by piece as it arrives. No reference to a piece is kept, so its memory may be reused.
 */
export class JsonText {
  readonly #bytesMax: number
  #parts: Buffer[] = []
  #part = Buffer.allocUnsafe(PART_BYTES)
  #length = 0
  #bytes = 0
  #state: State = 'within'
  /** An incomplete escape, from its backslash on. */
  #escape: number[] = []
  /** First surrogate of a pair whose second may follow; 0 without one. */
  #high = 0

  /** @param bytesMax limit of the text in UTF-8 */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get state(): State {
    return this.#state
  }

  /** Returns the text that was read so far. It is not validated as UTF-8. */
  take(): Buffer {
    const text = Buffer.concat([...this.#parts, this.#part.subarray(0, this.#length)])
    this.#parts = []
    this.#length = 0
    return text
  }

  /**
   * Reads `piece` from `from` up to `stop`.
   *
   * @returns where it ended: after the quotation mark that ends the string, or at an error
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
   * Reads the escape that begins at `from`. One that is cut at `to` is kept until the rest has arrived.
   *
   * @returns the number of bytes read; 0 if it is invalid
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

  /** Appends a unit of UTF-16 from an escape. */
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

  /** Returns a buffer with room for this many more bytes. */
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

/** End of the run of bytes that need no unescaping. */
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

/** @returns the offset after the character */
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
