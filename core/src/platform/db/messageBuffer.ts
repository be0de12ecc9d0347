import type { ItemType } from './binaryArrays.ts'

const FIRST_BYTES = 64 * 1024
/** Memory above this size, from a large batch, is released by {@link MessageBuffer.clear}. */
const KEPT_BYTES_MAX = 4 * 1024 * 1024
const NULL_LENGTH = -1

/** Buffer for consecutive messages of PostgreSQL's protocol. It grows as needed. */
export class MessageBuffer {
  private memory = Buffer.allocUnsafe(FIRST_BYTES)
  private end = 0

  /** Everything that was written; valid until {@link clear}. */
  get written(): Buffer {
    return this.memory.subarray(0, this.end)
  }

  clear(): void {
    this.end = 0
    if (this.memory.length > KEPT_BYTES_MAX) this.memory = Buffer.allocUnsafe(FIRST_BYTES)
  }

  /** Appends a message with its length, which is set after `write` has written the content. */
  message(type: number, write: (buffer: this) => void): void {
    this.reserve(5)
    this.memory[this.end] = type
    const start = this.end + 1
    this.end += 5
    write(this)
    this.memory.writeInt32BE(this.end - start, start)
  }

  /** Appends a value after its length: a parameter, or a field of a row. */
  value<Value>(type: ItemType<Value>, value: Value | null): this {
    if (value === null) return this.int32(NULL_LENGTH)
    const length = type.byteLength(value)
    this.int32(length)
    this.reserve(length)
    type.write(this.memory, this.end, value)
    this.end += length
    return this
  }

  /** Appends bytes after their length. */
  sized(bytes: Uint8Array): this {
    return this.int32(bytes.length).bytes(bytes)
  }

  bytes(bytes: Uint8Array): this {
    this.reserve(bytes.length)
    this.memory.set(bytes, this.end)
    this.end += bytes.length
    return this
  }

  /** Appends text and a NUL. */
  text(text: string): this {
    this.reserve(Buffer.byteLength(text) + 1)
    this.end += this.memory.write(text, this.end)
    this.memory[this.end] = 0
    this.end += 1
    return this
  }

  int16(value: number): this {
    this.reserve(2)
    this.end = this.memory.writeInt16BE(value, this.end)
    return this
  }

  int32(value: number): this {
    this.reserve(4)
    this.end = this.memory.writeInt32BE(value, this.end)
    return this
  }

  private reserve(bytes: number): void {
    if (this.end + bytes <= this.memory.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.memory.length * 2, this.end + bytes))
    this.memory.copy(larger, 0, 0, this.end)
    this.memory = larger
  }
}
