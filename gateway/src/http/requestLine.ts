/** The characters of a method, RFC 9110 §5.6.2. */
const TOKEN_CHARACTERS = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
const isTokenByte = new Uint8Array(256)
for (const character of TOKEN_CHARACTERS) isTokenByte[character.charCodeAt(0)] = 1

const SPACE = 32
const DELETE = 127
/** Longer than any method in use. */
const METHOD_BYTES_MAX = 128

/**
 * Finds method and target of a request, wherever the bytes are split. llhttp cannot do this: it refuses methods that it
 * does not know and targets with bytes beyond ASCII, and senders use both.
 */
export class RequestLine {
  #next = 0
  #methodEnd = -1

  /** End of the method, from the start of the message. */
  get methodEnd(): number {
    return this.#methodEnd
  }

  begin(): void {
    this.#next = 0
    this.#methodEnd = -1
  }

  /**
   * Continues where the last call stopped.
   *
   * @param base where the message starts in `bytes`
   * @returns the end of the target, from `base`; undefined when it has not arrived; false when this is no request line
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

/** Accepts everything but blanks and control characters; bytes beyond ASCII are kept as they arrived. */
function isTargetByte(byte: number): boolean {
  return byte > SPACE && byte !== DELETE
}
