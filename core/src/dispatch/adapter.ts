import type { Services } from '../api/services.ts'
import type { Db, Trx } from '../platform/db/index.ts'
import type { DueLane, LaneQueue } from './jobs.ts'
import type { PacedStart, StartPlace } from './pacing.ts'
import type { Lane } from './slots.ts'

export const LANE_KINDS = ['delivery', 'alert', 'event', 'rehearsal'] as const
export type LaneKind = (typeof LANE_KINDS)[number]

/**
 * Reasons to look at a lane, the weakest first: a new send waits, a send has ended, a bound of the lane has changed or
 * a job names it.
 */
export const SIGNALS = ['work', 'end', 'change'] as const
export type Signal = (typeof SIGNALS)[number]

/** A claimed send: its attempt belongs to this process until the lease ends. */
export interface Send {
  readonly bytes: number
  readonly leaseUntil: Date
  /** Its place in the pace of its lane; null or absent if it may start at once. */
  readonly start?: PacedStart | null
}

/** Capacity of a process for sends of a lane. */
export interface Room {
  /** Sends that it could begin. */
  readonly slots: number
  /** Time between a look and the first start, in milliseconds. */
  readonly leadMs: number
}

/** A lane to look at, with the number of sends that could begin. */
export interface LaneWithSlots extends Lane {
  readonly slots: number
}

export interface Look<One extends Send> {
  readonly sends: readonly One[]
  /**
   * Milliseconds until another send may start, or until a lease of the lane ends. 0 if more are due than the look had
   * room for. Null if only a signal leads to a further send.
   */
  readonly nextInMs: number | null
  /** The weakest signal that justifies a look before that. Default `work`. */
  readonly opensBy?: Signal
  /** The database's clock at the look, in milliseconds, if starts are paced. */
  readonly clockAt?: number
  /** Whether the next look is at this lane alone, too, and not in a group. */
  readonly isAlone?: boolean
  /** Work that follows the commit of the look. */
  readonly afterwards?: () => Promise<void>
}

export interface Outcome {
  /** Whether the receiver answered; null if nothing was sent to it. */
  readonly answered: boolean | null
  /** Duration of the call, if the send waited for something else, too. */
  readonly durationMs?: number
}

export interface Ended<One extends Send, Result extends Outcome> {
  readonly lane: Lane
  readonly send: One
  readonly outcome: Result
}

/** Lanes that an adapter finds: those whose work was due before a time, or all of a workspace that have work. */
export type LanesWith = { readonly dueBefore: Date } | { readonly workspaceId: string }

/** Sends that are due and have not begun. */
export interface Waiting {
  /** The most that are counted is {@link WAITING_MAX}. */
  readonly count: number
  /** When the first was due; null without any. */
  readonly dueAt: Date | null
}

const WAITING_MAX = 100_000

/** SQL that reads {@link Waiting} from rows with a `due_at`. */
export const waitingOf = (rows: string): string =>
  `select count(*)::int as count, min(due_at) as due_at from (${rows} limit ${WAITING_MAX}) due`

/** One kind of sends: how they are stored and what they send. The scheduler decides when. */
export interface Adapter<One extends Send, Result extends Outcome> {
  readonly kind: LaneKind
  readonly queue: LaneQueue
  /**
   * Claims sends that may start now. The only place that knows seal, pause, order, concurrency and lease. It locks the
   * row of the lane first.
   */
  look(services: Services, trx: Trx, lane: Lane, room: Room): Promise<Look<One>>
  /**
   * The same for several lanes at once, by their ids. It leaves out those that must be looked at alone. It waits for no
   * lock.
   */
  lookTogether?(
    services: Services,
    trx: Trx,
    lanes: readonly LaneWithSlots[],
  ): Promise<ReadonlyMap<string, Look<One>>>
  /** Postpones the send that is due first, because a look for it alone has failed. Absent: the look is repeated. */
  postpone?(services: Services, lane: Lane): Promise<void>
  /** Reserves a new time for a paced start that was missed; null when the lane is gone. */
  reserve?(services: Services, lane: Lane, place: StartPlace): Promise<number | null>
  /**
   * Makes one attempt. An expected failure is a result, not an exception.
   *
   * @param ready to be awaited right before the message is sent
   * @returns null for an attempt that was cut off and has no result
   */
  send(services: Services, one: One, signal: AbortSignal, ready: () => Promise<void>): Promise<Result | null>
  /**
   * Records results, all or none. It locks the rows of lanes first, in the order of their ids.
   *
   * @returns lanes that may have work left, and when it is due. A lane without work is looked at when a new send is queued
   */
  record(services: Services, trx: Trx, ended: readonly Ended<One, Result>[]): Promise<readonly DueLane[]>
  /** Records results whose ends change nothing else, in one statement. False, and nothing is done, if that is not so. */
  recordAlone?(services: Services, ended: readonly Ended<One, Result>[]): Promise<boolean>
  /** Whether the end of a send lets others of its lane start; true if absent. */
  frees?(ended: Ended<One, Result>): boolean
  /** Called when results are recorded and committed. */
  recorded?(services: Services, ended: readonly Ended<One, Result>[]): void
  /** Ids of a send for the log, by which its rows are found. */
  idsOf(one: One): Readonly<Record<string, unknown>>
  /** Finds lanes whose jobs may be missing. */
  find(db: Db, which: LanesWith): Promise<readonly Lane[]>
  /** Reads how much waits, for metrics. Lanes that are paused or off do not count. */
  waiting(db: Db, now: Date): Promise<Waiting | undefined>
  /** Reads an announcement of this or another process. An adapter that has this announces the ends of its sends. */
  heard?(announced: string): { readonly lane: Lane; readonly signal: Signal } | undefined
  /** Sends that may start now; all if absent. */
  room?(most: number): number
}
