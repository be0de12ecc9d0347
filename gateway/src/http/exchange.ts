import type { WireHeader } from '@creel/core/engine/message'
import type { ReadyAnswer } from './readyAnswer.ts'
import type { RequestHead } from './requestHead.ts'

/** Takes a body as it arrives. */
export interface BodyReceiver {
  /** @param piece its memory is the receiver's from now on */
  onData(piece: Buffer): void
  /** The body is whole. */
  onEnd(trailers: readonly WireHeader[]): void
  /** The rest will never come. */
  onAbort(): void
}

/** One request and its answer, as a handler of wire routes needs them. */
export interface WireExchange {
  readonly head: RequestHead
  /** Who sent it, as far as we believe proxies. */
  readonly address: string | null
  /** 32 hex digits, which a ready answer carries. */
  readonly traceId: string
  /** Of the body when all of it has arrived with the head: then there is no need to receive it. */
  takeWhole(): Buffer | undefined
  /** Begins to read the body: until then none of it is taken from the client. At most once. */
  receive(receiver: BodyReceiver): void
  /** Stops reading the body until `resume`. */
  pause(): void
  resume(): void
  /**
   * Answers at once, whatever of the body is still to come: a short rest is read and dropped, a long one ends the
   * connection.
   *
   * @param closes ends the connection unless the whole body has arrived
   */
  answer(answer: ReadyAnswer, closes?: boolean): void
  /** Calls back once when the client hangs up before it has its whole answer. */
  onHangUp(listener: () => void): void
}

/** One request of a connection, and its answer. */
export interface Exchange extends WireExchange {
  /** Begins an answer that is written piece by piece. */
  beginAnswer(): AnswerStream
  /** Hangs up without a word. */
  abort(): void
}

/** An answer that is written piece by piece. */
export interface AnswerStream {
  /** Whether the connection ends with this answer: its head must say so. */
  readonly closes: boolean
  /** Says how many bytes wait elsewhere to be written: they take memory as much as what was written and not taken. */
  holds(bytes: number): void
  write(bytes: Buffer): void
  /** Resolves when the client has taken what was written, or is gone. */
  drained(): Promise<void>
  /** The answer is whole. @param mustClose the client learns its end from the end of the connection */
  end(mustClose?: boolean): void
}

/** Serves a request of a wire route; called when its head is whole. */
export type RequestHandler = (exchange: WireExchange) => void
