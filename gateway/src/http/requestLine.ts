/** RFC 9110 §5.6.2: what a method is made of. */
const TOKEN_CHARACTERS = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
const isTokenByte = new Uint8Array(256)
for (const character of TOKEN_CHARACTERS) isTokenByte[character.charCodeAt(0)] = 1

const SPACE = 32
const DELETE = 127
/** No method that anybody sends is nearly as long. */
const METHOD_BYTES_MAX = 128

/**
 * Finds method and target of a request, however the bytes are cut. Read here and not by llhttp, which refuses methods that
 * it has no name for and targets with bytes beyond ASCII: senders send both.
 */
export class RequestLine {
  #next = 0
  #methodEnd = -1

  /** Of the method, from the start of the message. */
  get methodEnd(): number {
    return this.#methodEnd
  }

  begin(): void {
    this.#next = 0
    this.#methodEnd = -1
  }

  /**
   * Looks on from where the last call stopped.
   *
   * @param base where the message starts in `bytes`
   * @returns the end of the target, from `base`; undefined when it has not arrived; false for what is no request line
   */
  targetEnd(bytes: Buffer, base: number): number | undefined | false {
    const end = bytes.length - base
    let at = this.#next
    if (this.#methodEnd < 0) {
      while (at < end && isTokenByte[bytes[base + at] ?? 0] === 1) at += 1
      if (at > METHOD_BYTES_MAX) return false
      if (at < end) {
        if (at === 0 || bytes[base + at] !== SPACE) return false
        this.#methodEnd = at
        at += 1
      }
    }
    if (this.#methodEnd >= 0) {
      while (at < end && isTargetByte(bytes[base + at] ?? 0)) at += 1
      if (at < end) return bytes[base + at] === SPACE && at > this.#methodEnd + 1 ? at : false
    }
    this.#next = at
    return undefined
  }
}

/** Everything but blanks and control characters; what is beyond ASCII is kept as it came. */
function isTargetByte(byte: number): boolean {
  return byte > SPACE && byte !== DELETE
}
