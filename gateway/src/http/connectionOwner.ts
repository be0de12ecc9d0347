import type { HttpExchange } from './httpExchange.ts'
import type { HttpLimits } from './httpLimits.ts'
import type { Refusal } from './requestHead.ts'
import type { TurnQueue } from './turnQueue.ts'

/** What a listener knows of its connections. */
export interface OwnedConnection {
  /** The address at the other end. */
  readonly peer: string
  /** Whether no request is under way: then the connection may be ended without harm. */
  readonly isIdle: boolean
  /** Whether it has ever brought a request. */
  readonly hasServed: boolean
  /** What its client has not taken of its answers. */
  readonly unsentBytes: number
  /** To be called once a tick: hangs up on what takes too long. */
  checkDeadlines(): void
  /** Ends an idle connection. */
  end(): void
  /** Hangs up, whatever is under way. */
  terminate(): void
  /** Hangs up because of an error of the service, which is reported. Does not throw. */
  fail(error: unknown): void
}

/** The deadlines, in ticks. */
export interface Ticks {
  readonly idle: number
  readonly head: number
  readonly linger: number
  readonly unsent: number
}

/** What a connection asks of the listener that it belongs to. */
export interface ConnectionOwner {
  readonly limits: HttpLimits
  readonly ticks: Ticks
  /** The listener's clock. */
  readonly tick: number
  /** No further requests: connections end with their answers. */
  readonly isDraining: boolean
  serve(connection: OwnedConnection, exchange: HttpExchange): void
  onIdle(connection: OwnedConnection): void
  onRefused(connection: OwnedConnection, refusal: Refusal): void
  /** Receives an error of the service that ended this connection. */
  onFault(error: unknown): void
  /** Connections that continue with pipelined requests in a later turn of the event loop. */
  readonly turns: TurnQueue
}
