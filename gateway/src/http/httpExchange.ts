import type { AnswerStream, BodyReceiver, Exchange } from './exchange.ts'
import type { ReadyAnswer } from './readyAnswer.ts'
import type { RequestHead } from './requestHead.ts'
import type { SocketWriter } from './socketWriter.ts'
import { nextTraceId } from './traceIds.ts'

/** What an exchange asks of its connection, as long as it is the connection's turn. */
export interface ExchangeConnection {
  readonly writer: SocketWriter
  /** What waits to be written besides what the writer holds. */
  heldBytes: number
  takeWhole(): Buffer | undefined
  receiveBody(receiver: BodyReceiver): void
  pauseBody(paused: boolean): void
  /**
   * The answer begins: what is left of the body is nobody's.
   *
   * @returns whether the connection ends with this answer
   */
  beginAnswer(keepAlive: boolean, closesUnlessWhole: boolean): boolean
  /** The answer is whole. */
  endAnswer(mustClose: boolean): void
  terminate(): void
  /** Hangs up because of an error of the service, which is reported. Does not throw. */
  fail(error: unknown): void
}

/**
 * One request on its connection. Once it is answered, or its client gone, nothing that it is asked has an effect. Nothing throws:
 * an error of the connection ends it. Handlers call this long after the callback of the socket, where no guard would catch it.
 */
export class HttpExchange implements Exchange, AnswerStream {
  readonly #connection: ExchangeConnection
  readonly head: RequestHead
  address: string | null = null
  closes = false
  #isOver = false
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

  /** To be called by the connection: the client sends no more, which most do who have gone; it may still take the answer. */
  hangUp(): void {
    if (!this.#isOver) this.#onHangUp?.()
  }

  /** To be called by the connection: there is nobody to answer. */
  gone(): void {
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
