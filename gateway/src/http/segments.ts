/** A segment is as large as what has arrived before it, within these bounds: what is not filled of it is lost for a while. */
const SEGMENT_BYTES = { min: 512, max: 256 * 1024 } as const
/** A piece of this length is a segment as it is: a copy would take its bytes twice until memory is collected. */
const OWN_SEGMENT_BYTES_MIN = 16 * 1024

/**
 * Bytes of a large body that arrive in pieces. They are put into segments and moved once, at the end: a body that is half there takes what
 * has arrived and a quarter of a megabyte at most, and a thousand pieces of a byte no more than one of a thousand.
 */
export class Segments {
  #full: Uint8Array[] = []
  #last: Buffer = Buffer.alloc(0)
  #lastLength = 0
  #length = 0

  get length(): number {
    return this.#length
  }

  /** @param piece its memory is kept, so nobody else may write to it */
  append(piece: Uint8Array): void {
    if (isSegment(piece)) {
      this.#close()
      this.#full.push(piece)
      this.#length += piece.length
      return
    }
    let at = 0
    while (at < piece.length) {
      if (this.#lastLength === this.#last.length) this.#open(piece.length - at)
      const count = Math.min(piece.length - at, this.#last.length - this.#lastLength)
      this.#last.set(piece.subarray(at, at + count), this.#lastLength)
      this.#lastLength += count
      this.#length += count
      at += count
    }
  }

  /** Hands the first bytes over, all unless told, and starts anew. */
  take(bytesMax = this.#length): Buffer {
    const segments = [...this.#full, this.#last.subarray(0, this.#lastLength)]
    const taken = Buffer.allocUnsafeSlow(Math.min(bytesMax, this.#length))
    let at = 0
    for (const segment of segments) {
      if (at === taken.length) break
      const part = segment.subarray(0, taken.length - at)
      taken.set(part, at)
      at += part.length
    }
    this.#full = []
    this.#last = Buffer.alloc(0)
    this.#lastLength = 0
    this.#length = 0
    return taken
  }

  #close(): void {
    if (this.#lastLength > 0) this.#full.push(this.#last.subarray(0, this.#lastLength))
    this.#last = Buffer.alloc(0)
    this.#lastLength = 0
  }

  #open(needed: number): void {
    this.#close()
    const size = Math.max(needed, this.#length, SEGMENT_BYTES.min)
    this.#last = Buffer.allocUnsafeSlow(Math.min(size, SEGMENT_BYTES.max))
  }
}

/** Not where a small part would hold a large whole. */
function isSegment({ length, buffer }: Uint8Array): boolean {
  return length >= OWN_SEGMENT_BYTES_MIN && length * 2 >= buffer.byteLength
}
