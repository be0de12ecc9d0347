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
}

/** One request on its connection. Once it is answered, or its client gone, nothing that it is asked has an effect. */
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
    return this.#isOver ? undefined : this.#connection.takeWhole()
  }

  receive(receiver: BodyReceiver): void {
    if (!this.#isOver) this.#connection.receiveBody(receiver)
  }

  pause(): void {
    if (!this.#isOver) this.#connection.pauseBody(true)
  }

  resume(): void {
    if (!this.#isOver) this.#connection.pauseBody(false)
  }

  answer(answer: ReadyAnswer, closes = false): void {
    if (this.#isOver) return
    const isHead = this.head.method === 'HEAD'
    this.closes = this.#connection.beginAnswer(this.head.keepAlive, closes)
    this.#connection.writer.writeCopy(answer.bytes({ isHead, closes: this.closes, traceId: this.traceId }))
    this.end()
  }

  beginAnswer(): AnswerStream {
    if (!this.#isOver && !this.#hasBegun) {
      this.#hasBegun = true
      this.closes = this.#connection.beginAnswer(this.head.keepAlive, false)
    }
    return this
  }

  holds(bytes: number): void {
    if (!this.#isOver) this.#connection.heldBytes = bytes
  }

  write(bytes: Buffer): void {
    if (!this.#isOver) this.#connection.writer.write(bytes)
  }

  drained(): Promise<void> {
    return this.#isOver ? Promise.resolve() : this.#connection.writer.drained()
  }

  end(mustClose = false): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#connection.heldBytes = 0
    this.#connection.endAnswer(mustClose)
  }

  abort(): void {
    if (!this.#isOver) this.#connection.terminate()
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
}
