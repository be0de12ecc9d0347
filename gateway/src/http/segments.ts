/** A segment is as large as what has arrived before it, within these bounds: what is not filled of it is lost for a while. */
const SEGMENT_BYTES = { min: 512, max: 256 * 1024 } as const

/**
 * Bytes of a large body that arrive in pieces. They are put into segments and moved once, at the end: a body that is half there takes what
 * has arrived and a quarter of a megabyte at most, and a thousand pieces of a byte no more than one of a thousand.
 */
export class Segments {
  #full: Buffer[] = []
  #last: Buffer = Buffer.alloc(0)
  #lastLength = 0
  #length = 0

  get length(): number {
    return this.#length
  }

  append(piece: Uint8Array): void {
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
      at += segment.copy(taken, at)
    }
    this.#full = []
    this.#last = Buffer.alloc(0)
    this.#lastLength = 0
    this.#length = 0
    return taken
  }

  #open(needed: number): void {
    if (this.#lastLength > 0) this.#full.push(this.#last)
    const size = Math.max(needed, this.#length, SEGMENT_BYTES.min)
    this.#last = Buffer.allocUnsafeSlow(Math.min(size, SEGMENT_BYTES.max))
    this.#lastLength = 0
  }
}
