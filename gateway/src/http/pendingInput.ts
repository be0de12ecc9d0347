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
