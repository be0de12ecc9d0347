import { countPiece } from '@creel/core/platform/memory'

const NOTHING: Buffer = Buffer.alloc(0)
/**
 * Shorter writes, such as events of a stream, are left to the engine's own garbage collection. A forced one would cost
 * more than it saves.
 */
const COUNTED_BYTES_MIN = 128 * 1024

export interface WritableSocket {
  /** @returns how many bytes the system took; negative when the socket is closed */
  write(bytes: Uint8Array): number
}

/** The part of Bun's socket that a connection uses. */
export interface ConnectionSocket extends WritableSocket {
  readonly remoteAddress: string
  /** Half-closes: no more bytes from us; the other side may still send. */
  shutdown(): void
  /** Closes after the written data is flushed. */
  end(): void
  /** Closes at once and drops unsent data. */
  terminate(): void
  pause(): void
  resume(): void
}

/** Sends bytes as fast as the client takes them, and buffers the rest. */
export class SocketWriter {
  readonly #socket: WritableSocket
  #unsent: Buffer[] = []
  #unsentBytes = 0
  #hasFailed = false
  #writtenBytes = 0
  #drained: PromiseWithResolvers<void> | undefined

  constructor(socket: WritableSocket) {
    this.#socket = socket
  }

  get unsentBytes(): number {
    return this.#unsentBytes
  }

  /** Bytes written since the connection was opened, sent or not. */
  get writtenBytes(): number {
    return this.#writtenBytes
  }

  /** Whether a write has failed because the client is gone. For a paused socket Bun reports this in no other way. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  /** @param bytes owned by the writer from now on, and must not change */
  write(bytes: Buffer): void {
    const unsent = this.#send(bytes)
    if (unsent.length > 0) this.#unsent.push(unsent)
  }

  /** @param bytes may be reused as soon as this returns */
  writeCopy(bytes: Buffer): void {
    const unsent = this.#send(bytes)
    if (unsent.length > 0) this.#unsent.push(Buffer.from(unsent))
  }

  /** Sends the bytes that the system takes now. Counts the rest and returns it. */
  #send(bytes: Buffer): Buffer {
    if (bytes.length >= COUNTED_BYTES_MIN) countPiece(bytes.length)
    this.#writtenBytes += bytes.length
    const sent = this.#unsentBytes > 0 ? 0 : this.#write(bytes)
    if (sent === bytes.length) return NOTHING
    this.#unsentBytes += bytes.length - sent
    return bytes.subarray(sent)
  }

  /** @returns how many bytes the system took */
  #write(bytes: Buffer): number {
    const sent = this.#socket.write(bytes)
    if (sent >= 0) return sent
    this.#hasFailed = true
    return 0
  }

  /** Call when the socket accepts bytes again. */
  flush(): void {
    for (;;) {
      const [first] = this.#unsent
      if (first === undefined) break
      const sent = this.#write(first)
      this.#unsentBytes -= sent
      if (sent < first.length) {
        this.#unsent[0] = first.subarray(sent)
        return
      }
      this.#unsent.shift()
    }
    this.#release()
  }

  /** Resolves when the client has taken everything, or is gone. */
  drained(): Promise<void> {
    if (this.#unsentBytes === 0) return Promise.resolve()
    this.#drained ??= Promise.withResolvers()
    return this.#drained.promise
  }

  /** Call when the socket is closed. */
  abandon(): void {
    this.#unsent = []
    this.#unsentBytes = 0
    this.#release()
  }

  #release(): void {
    this.#drained?.resolve()
    this.#drained = undefined
  }
}
