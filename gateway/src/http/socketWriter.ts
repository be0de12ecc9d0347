import { countPiece } from '@creel/core/platform/memory'

const NOTHING: Buffer = Buffer.alloc(0)
/** Shorter ones, such as events of a stream, are collected as the engine goes: a collection for them would cost more than it saves. */
const COUNTED_BYTES_MIN = 128 * 1024

/** What a writer needs of a socket. */
export interface WritableSocket {
  /** @returns how many bytes the system took; negative when the socket is closed */
  write(bytes: Uint8Array): number
}

/** What a connection needs of Bun's socket. */
export interface ConnectionSocket extends WritableSocket {
  readonly remoteAddress: string
  /** No more bytes from us; the other side may still send. */
  shutdown(): void
  /** A farewell: what was written arrives. */
  end(): void
  /** None. */
  terminate(): void
  pause(): void
  resume(): void
}

/** Sends bytes as fast as the client takes them, and keeps those that it has not taken yet. */
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

  /** Bytes that were written since the connection was opened, sent or not. */
  get writtenBytes(): number {
    return this.#writtenBytes
  }

  /** Whether the client is gone. Bun does not say so of a socket that is paused: only its writes fail. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  /** @param bytes the writer's from now on: they stay as they are */
  write(bytes: Buffer): void {
    const unsent = this.#send(bytes)
    if (unsent.length > 0) this.#unsent.push(unsent)
  }

  /** @param bytes may be used again as soon as this returns */
  writeCopy(bytes: Buffer): void {
    const unsent = this.#send(bytes)
    if (unsent.length > 0) this.#unsent.push(Buffer.from(unsent))
  }

  /** Hands over what the system takes now, and counts the rest, which it gives back. */
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

  /** To be called when the socket takes bytes again. */
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

  /** Resolves when the client has taken everything, or will take no more. */
  drained(): Promise<void> {
    if (this.#unsentBytes === 0) return Promise.resolve()
    this.#drained ??= Promise.withResolvers()
    return this.#drained.promise
  }

  /** To be called when the socket is closed. */
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
