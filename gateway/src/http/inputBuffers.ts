/**
 * Collects bytes that arrive in pieces. A thousand pieces of one byte take no more memory than one piece of a thousand.
 */
export class GrowingBuffer {
  #bytes: Buffer = Buffer.alloc(0)
  #length = 0

  get length(): number {
    return this.#length
  }

  /** The bytes so far; valid until the next change. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  append(piece: Uint8Array): void {
    const length = this.#length + piece.length
    if (length > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length, this.#bytes.length * 2, 512))
      this.#bytes.copy(larger, 0, 0, this.#length)
      this.#bytes = larger
    }
    this.#bytes.set(piece, this.#length)
    this.#length = length
  }

  /** Returns all bytes and starts over. */
  take(): Buffer {
    const taken = this.bytes
    this.clear()
    return taken
  }

  clear(): void {
    this.#bytes = Buffer.alloc(0)
    this.#length = 0
  }
}

const NOTHING: Buffer = Buffer.alloc(0)

/** Bytes that a client has sent and that are not read yet. */
export class PendingInput {
  /** Unread from `at` on. */
  bytes = NOTHING
  at = 0

  get length(): number {
    return this.bytes.length - this.at
  }

  append(piece: Buffer): void {
    this.bytes = this.length > 0 ? Buffer.concat([this.bytes.subarray(this.at), piece]) : piece
    this.at = 0
  }

  clear(): void {
    this.bytes = NOTHING
    this.at = 0
  }
}
