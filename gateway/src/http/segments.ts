import { atOnce } from '@creel/core/platform/turns'

/**
 * A new segment is as large as all bytes before it, within these bounds. Its unfilled part is wasted until the body
 * ends.
 */
const SEGMENT_BYTES = { min: 512, max: 256 * 1024 } as const
/**
 * A piece of at least this length becomes a segment itself; a copy would take its bytes twice until garbage collection.
 */
const OWN_SEGMENT_BYTES_MIN = 16 * 1024

/**
 * Collects a large body that arrives in pieces. The pieces are put into segments and moved once, at the end. An
 * incomplete body takes the bytes that have arrived and at most a quarter of a megabyte more. A thousand pieces of one
 * byte take no more than one piece of a thousand.
 */
export class Segments {
  #full: Uint8Array[] = []
  #last: Buffer = Buffer.alloc(0)
  #lastLength = 0
  #length = 0

  get length(): number {
    return this.#length
  }

  /** @param piece kept without a copy, so its memory must not be written to again */
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

  /** Returns the first `bytesMax` bytes, by default all, and starts over. */
  take(bytesMax = this.#length): Buffer {
    return atOnce(this.takeInSteps(bytesMax))
  }

  /** {@link take} in steps that copy one segment each. Nothing may be appended in between. */
  *takeInSteps(bytesMax = this.#length): Generator<void, Buffer> {
    const taken = Buffer.allocUnsafeSlow(Math.min(bytesMax, this.#length))
    this.#close()
    let at = 0
    for (const segment of this.#full) {
      if (at === taken.length) break
      const part = segment.subarray(0, taken.length - at)
      taken.set(part, at)
      at += part.length
      yield
    }
    this.#full = []
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

/** False for a small view into a large buffer, which it would keep alive. */
function isSegment({ length, buffer }: Uint8Array): boolean {
  return length >= OWN_SEGMENT_BYTES_MIN && length * 2 >= buffer.byteLength
}
