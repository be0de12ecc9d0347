import type { WireHeader } from '@creel/core/engine/message'
import type { ReadyAnswer } from './readyAnswer.ts'
import type { RequestHead } from './requestHead.ts'

/** Callbacks that receive a body as it arrives. */
export interface BodyReceiver {
  /** @param piece owned by the receiver from now on */
  onData(piece: Buffer): void
  /** The body is complete. */
  onEnd(trailers: readonly WireHeader[]): void
  /** The body broke off. */
  onAbort(): void
}

/**
 * The client's side of the connection. A client that half-closes can still take the answer, although most that do are
 * gone: both look alike until something is written.
 */
export type PeerState = 'open' | 'half-closed' | 'gone'

/** One request and its answer, as a handler of wire routes needs them. */
export interface WireExchange {
  readonly head: RequestHead
  /** Address of the sender, taken from trusted proxies. */
  readonly address: string | null
  /** 32 hex digits; ready answers carry it. */
  readonly traceId: string
  /** The whole body, if all of it arrived with the head. Then there is no need to receive it. */
  takeWhole(): Buffer | undefined
  /** Begins to read the body, which is not read from the client before. Call at most once. */
  receive(receiver: BodyReceiver): void
  /** Stops reading the body until `resume`. */
  pause(): void
  resume(): void
  /**
   * Answers at once, even if the body is incomplete. A short rest of the body is read and dropped; after a long one the
   * connection ends.
   *
   * @param closes ends the connection unless the whole body has arrived
   */
  answer(answer: ReadyAnswer, closes?: boolean): void
  /** Terminates the connection without an answer. */
  abort(): void
  /** Sends the first half of an answer, and ends the connection. */
  answerHalf(answer: ReadyAnswer): void
  readonly peer: PeerState
  /** Calls back when the client half-closes, and when it is gone, before it has its whole answer. Replaces a listener. */
  onHangUp(listener: () => void): void
}

/** One request of a connection, and its answer. */
export interface Exchange extends WireExchange {
  /** Begins an answer that is written piece by piece. */
  beginAnswer(): AnswerStream
}

/** An answer that is written piece by piece. */
export interface AnswerStream {
  /** Whether the connection ends with this answer: its head must say so. */
  readonly closes: boolean
  /**
   * Reports bytes that wait elsewhere to be written. They count as memory, like bytes that are written and not taken.
   */
  holds(bytes: number): void
  /**
   * Says that the answer lasts as long as the client wants it, so that its leaving is noticed whatever it has sent ahead.
   * Requests that wait behind it may be dropped; then the connection ends with it.
   */
  lasts(): void
  write(bytes: Buffer): void
  /** Resolves when the client has taken what was written, or is gone. */
  drained(): Promise<void>
  /** The answer is complete. @param mustClose the end of the connection marks the end of the answer */
  end(mustClose?: boolean): void
}

/** Serves a request of a wire route; called when its head is complete. */
export type RequestHandler = (exchange: WireExchange) => void
