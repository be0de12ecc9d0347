import type { Services } from '../api/services.ts'
import type { Trx } from '../platform/db/index.ts'
import type { DueLane, Lane, LaneQueue } from './jobs.ts'

/** Kinds of lanes, as metrics name them. */
export const LANE_KINDS = ['delivery', 'alert', 'event', 'rehearsal'] as const
/** One of {@link LANE_KINDS}. */
export type LaneKind = (typeof LANE_KINDS)[number]

/** A claimed send: its attempt belongs to this process until the lease ends. */
export interface Send {
  readonly bytes: number
  readonly leaseUntil: Date
}

/** Result of a look at a lane. */
export interface Look<One extends Send> {
  readonly sends: readonly One[]
  /**
   * Milliseconds until another send may start. 0 if more are due than the look had room for. Null if the end of a send
   * or a new one leads to it.
   */
  readonly nextInMs: number | null
}

/** Result of a send. */
export interface Outcome {
  /** Whether the receiver answered; null if nothing was sent to it. */
  readonly answered: boolean | null
}

/** A send that has ended. */
export interface Ended<One extends Send, Result extends Outcome> {
  readonly lane: Lane
  readonly send: One
  readonly outcome: Result
}

/** One kind of sends: how they are stored and what they send. The scheduler decides when. */
export interface Adapter<One extends Send, Result extends Outcome> {
  readonly kind: LaneKind
  readonly queue: LaneQueue
  /**
   * Claims sends that may start now, at most `most`. The only place that knows seal, pause, order, concurrency and
   * lease. It locks the row of the lane first.
   */
  look(services: Services, trx: Trx, lane: Lane, most: number): Promise<Look<One>>
  /** Makes one attempt. An expected failure is a result, not an exception. */
  send(services: Services, one: One, signal: AbortSignal): Promise<Result>
  /**
   * Records results, all or none. It locks the rows of lanes first, in the order of their ids.
   *
   * @returns lanes that have work left, and when it is due. Those without are looked at when a new send is queued
   */
  record(services: Services, trx: Trx, ended: readonly Ended<One, Result>[]): Promise<readonly DueLane[]>
  /** Lanes with work that was due at `before`: their jobs are lost. */
  overdue(services: Services, before: Date): Promise<readonly Lane[]>
  /** Sends that may start now; all if absent. */
  room?(most: number): number
}
