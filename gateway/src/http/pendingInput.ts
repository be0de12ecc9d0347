const NOTHING: Buffer = Buffer.alloc(0)

/** What a client has sent and nobody has read. */
export class PendingInput {
  /** From `at` on, what is to be read. */
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
