import type { HttpExchange } from './httpExchange.ts'
import type { HttpLimits } from './httpLimits.ts'
import type { Refusal } from './requestHead.ts'
import type { TurnQueue } from './turnQueue.ts'

/** A connection, as its listener sees it. */
export interface OwnedConnection {
  /** The address at the other end. */
  readonly peer: string
  /** Whether no request is in flight, so that the connection can be ended without harm. */
  readonly isIdle: boolean
  /** Whether it has ever carried a request. */
  readonly hasServed: boolean
  /** Bytes of answers that its client has not taken. */
  readonly unsentBytes: number
  /** Call once a tick. Terminates the connection when a deadline has passed. */
  checkDeadlines(): void
  end(): void
  /** Terminates the connection, even with a request in flight. */
  terminate(): void
  /** Terminates the connection because of an error of the service, which is reported. Does not throw. */
  fail(error: unknown): void
}

export interface Ticks {
  readonly idle: number
  readonly head: number
  readonly linger: number
  readonly unsent: number
}

/** The listener, as its connections see it. */
export interface ConnectionOwner {
  readonly limits: HttpLimits
  readonly ticks: Ticks
  /** The listener's clock. */
  readonly tick: number
  /** Whether the listener takes no further requests: connections end after their current answer. */
  readonly isDraining: boolean
  serve(connection: OwnedConnection, exchange: HttpExchange): void
  onIdle(connection: OwnedConnection): void
  onRefused(connection: OwnedConnection, refusal: Refusal): void
  /** Receives an error of the service that ended this connection. */
  onFault(error: unknown): void
  /** Connections that continue with pipelined requests in a later turn of the event loop. */
  readonly turns: TurnQueue
}
