import type { AnswerStream, BodyReceiver, Exchange, PeerState } from './exchange.ts'
import type { ReadyAnswer } from './readyAnswer.ts'
import type { RequestHead } from './requestHead.ts'
import type { SocketWriter } from './socketWriter.ts'
import { nextTraceId } from './traceIds.ts'

/** The connection, as its current exchange uses it. */
export interface ExchangeConnection {
  readonly writer: SocketWriter
  /** Whether the client has half-closed. */
  readonly hasPeerEnded: boolean
  /** Bytes that wait to be written, in addition to those that the writer holds. */
  heldBytes: number
  takeWhole(): Buffer | undefined
  receiveBody(receiver: BodyReceiver): void
  pauseBody(paused: boolean): void
  /**
   * Begins the answer. The rest of the body is dropped.
   *
   * @returns whether the connection ends with this answer
   */
  beginAnswer(keepAlive: boolean, closesUnlessWhole: boolean): boolean
  /** From now on the client is read from until it has its answer. Requests that are too long to wait behind it are dropped. */
  readThrough(): void
  endAnswer(mustClose: boolean): void
  terminate(): void
  /** Terminates the connection because of an error of the service, which is reported. Does not throw. */
  fail(error: unknown): void
}

/**
 * One request on its connection. After it is answered, or its client has disconnected, all methods are no-ops. No
 * method throws: an error of the connection ends the connection. Handlers call these methods long after the socket's
 * callback, where no guard would catch an error.
 */
export class HttpExchange implements Exchange, AnswerStream {
  readonly #connection: ExchangeConnection
  readonly head: RequestHead
  address: string | null = null
  closes = false
  #isOver = false
  #isGone = false
  #hasBegun = false
  #onHangUp: (() => void) | undefined
  #traceId: string | undefined

  constructor(connection: ExchangeConnection, head: RequestHead) {
    this.#connection = connection
    this.head = head
  }

  get traceId(): string {
    this.#traceId ??= nextTraceId()
    return this.#traceId
  }

  get peer(): PeerState {
    if (this.#isGone) return 'gone'
    return this.#connection.hasPeerEnded ? 'half-closed' : 'open'
  }

  takeWhole(): Buffer | undefined {
    return this.#guarded(() => this.#connection.takeWhole())
  }

  receive(receiver: BodyReceiver): void {
    this.#guarded(() => this.#connection.receiveBody(receiver))
  }

  pause(): void {
    this.#guarded(() => this.#connection.pauseBody(true))
  }

  resume(): void {
    this.#guarded(() => this.#connection.pauseBody(false))
  }

  answer(answer: ReadyAnswer, closes = false): void {
    if (this.#isOver) return
    try {
      const isHead = this.head.method === 'HEAD'
      this.closes = this.#connection.beginAnswer(this.head.keepAlive, closes)
      this.#connection.writer.writeCopy(answer.bytes({ isHead, closes: this.closes, traceId: this.traceId }))
    } catch (error) {
      this.#connection.fail(error)
      return
    }
    this.end()
  }

  answerHalf(answer: ReadyAnswer): void {
    this.#guarded(() => {
      this.#connection.beginAnswer(false, true)
      const isHead = this.head.method === 'HEAD'
      const bytes = answer.bytes({ isHead, closes: true, traceId: this.traceId })
      const bodyAt = bytes.indexOf('\r\n\r\n') + 4
      // Without a body only a cut within the head is incomplete.
      const from = bytes.length > bodyAt ? bodyAt : 0
      this.#connection.writer.writeCopy(bytes.subarray(0, Math.floor((from + bytes.length) / 2)))
    })
    this.end(true)
  }

  beginAnswer(): AnswerStream {
    if (!this.#hasBegun) {
      this.#hasBegun = true
      this.#guarded(() => {
        this.closes = this.#connection.beginAnswer(this.head.keepAlive, false)
      })
    }
    return this
  }

  holds(bytes: number): void {
    if (!this.#isOver) this.#connection.heldBytes = bytes
  }

  lasts(): void {
    this.#guarded(() => this.#connection.readThrough())
  }

  write(bytes: Buffer): void {
    this.#guarded(() => this.#connection.writer.write(bytes))
  }

  drained(): Promise<void> {
    return this.#guarded(() => this.#connection.writer.drained()) ?? Promise.resolve()
  }

  end(mustClose = false): void {
    if (this.#isOver) return
    this.#isOver = true
    try {
      this.#connection.heldBytes = 0
      this.#connection.endAnswer(mustClose)
    } catch (error) {
      this.#connection.fail(error)
    }
  }

  abort(): void {
    this.#guarded(() => this.#connection.terminate())
  }

  onHangUp(listener: () => void): void {
    this.#onHangUp = listener
  }

  /** Called by the connection when the client has half-closed. */
  hangUp(): void {
    if (!this.#isOver) this.#onHangUp?.()
  }

  /** Called by the connection when its client is gone. */
  gone(): void {
    this.#isGone = true
    this.hangUp()
    this.#isOver = true
  }

  /** @returns what `work` returns; undefined when the exchange is over, or the connection failed */
  #guarded<Result>(work: () => Result): Result | undefined {
    if (this.#isOver) return undefined
    try {
      return work()
    } catch (error) {
      this.#connection.fail(error)
      return undefined
    }
  }
}
