/** What one process sends at once. */
export interface DestinationLimits {
  /** Attempts under way, over all actions. */
  readonly total: number
  /** Attempts under way to one action: as many as may have a connection. */
  readonly perAction: number
  /** The same for one that is known to answer soon: those beyond {@link perAction} are claimed, and wait for a connection. */
  readonly perFastAction: number
  /** The same for an action that does not. */
  readonly perDeadAction: number
  /** Bytes of bodies under way; one body is let through however large it is. */
  readonly bytes: number
}

/**
 * The limits of a process by default: 1536 attempts and 256 MiB of bodies at once. Should a fast destination fall
 * silent, what is claimed ahead waits for three rounds of timeouts of 15 s, which is well within a lease.
 */
export const DESTINATION_LIMITS: DestinationLimits = {
  total: 1536,
  perAction: 128,
  perFastAction: 512,
  perDeadAction: 16,
  bytes: 256 * 1024 * 1024,
}

/** An attempt that answers within this time shows a living receiver; one that takes longer, or fails, a slow one. */
const FAST_MS = 1000
/** A destination that has not answered yet counts as stuck after this: its attempts must not hold up those of others for long. */
const UNPROVEN_MS = 250
/** An action whose attempts take less than this may have some claimed ahead: they wait for a second at most. */
const AHEAD_MS = 250
/** So long after an attempt has waited for a slot, there may be others in line. */
const LINE_MS = 1000
/** The longest time for which an attempt is deferred because its action has no free slot. */
const DEFER_MAX_MS = 60_000
const DEFER_MIN_MS = 1000

/** What a destination must know of an attempt. */
export interface LimitedAttempt {
  readonly actionId: string
  readonly bodyBytes: number
}

/** What to do with an attempt: start it now, wait for a slot that will be free soon, or come back later. */
export type Admission = 'start' | 'wait' | { readonly afterMs: number }

interface Destination {
  running: number
  /** Moving average of how long an attempt holds its slot. */
  averageMs: number
  /** Failures in a row, without a fast answer in between. */
  failures: number
  /** When the next deferred attempt will find a slot, by what is known. */
  freeAtMs: number
  /** When a slot was last given back, or the first one taken. */
  movedAtMs: number
  /** When an attempt last found no slot. */
  waitedAtMs: number
}

/**
 * Hands out the slots of one process: one destination an action, so that a destination that does not answer holds up
 * its own attempts and nobody else's.
 *
 * A destination that answers lets attempts wait the milliseconds until a slot is free. One that does not answer sends them
 * away, each to a later time, so that its backlog is not looked at again and again. Pure but for its own counts;
 * times are milliseconds of any steady clock.
 */
export class DestinationLimiter {
  private readonly destinations = new Map<string, Destination>()
  private running = 0
  private bytes = 0

  constructor(private readonly limits: DestinationLimits = DESTINATION_LIMITS) {}

  /** Attempts under way. */
  get size(): number {
    return this.running
  }

  /** Takes a slot when there is one; every `start` must be given back through {@link release}. */
  admit(one: LimitedAttempt, nowMs: number): Admission {
    const destination = this.destination(one.actionId)
    const isFull = this.running >= this.limits.total
    if (isFull || (this.bytes > 0 && this.bytes + one.bodyBytes > this.limits.bytes)) {
      destination.waitedAtMs = nowMs
      return 'wait'
    }
    const limit = this.limitOf(destination)
    if (destination.running < limit) {
      this.take(one, nowMs)
      return 'start'
    }
    destination.waitedAtMs = nowMs
    // A destination in which nothing moves does not answer, though no attempt has timed out yet.
    const isStuck = nowMs - destination.movedAtMs >= (destination.averageMs === 0 ? UNPROVEN_MS : FAST_MS)
    if (destination.failures === 0 && destination.averageMs < FAST_MS && !isStuck) return 'wait'
    return { afterMs: this.defer(destination, limit, nowMs) }
  }

  /**
   * Takes a slot for an attempt that nobody has queued, when nothing stands in line before it: the action answers, none of its
   * attempts waits, and half of the slots are free for what comes from the queue.
   *
   * @returns false: it must be queued
   */
  admitAhead(one: LimitedAttempt, nowMs: number): boolean {
    const { failures, running, waitedAtMs } = this.destination(one.actionId)
    const isBusy =
      failures > 0 ||
      running >= this.limits.perAction / 2 ||
      this.running >= this.limits.total / 2 ||
      this.bytes + one.bodyBytes > this.limits.bytes / 2 ||
      nowMs - waitedAtMs < LINE_MS
    return !isBusy && this.admit(one, nowMs) === 'start'
  }

  /** How many attempts of an action could be given a connection now, without a look at how large they are. */
  room(actionId: string): number {
    if (this.bytes >= this.limits.bytes) return 0
    const destination = this.destination(actionId)
    const limit = Math.min(this.limitOf(destination), this.limits.perAction)
    const room = Math.max(0, Math.min(limit - destination.running, this.limits.total - this.running))
    if (destination.running === 0 && destination.failures === 0) this.destinations.delete(actionId)
    return room
  }

  /** Takes a slot for an attempt that is claimed already, for which there was {@link room}. Must be given back through {@link release}. */
  take(one: LimitedAttempt, nowMs: number): void {
    const destination = this.destination(one.actionId)
    if (destination.running === 0) destination.movedAtMs = nowMs
    destination.running++
    this.running++
    this.bytes += one.bodyBytes
  }

  /** How long an attempt waits that has waited for too long: its destination said `wait` for too long. */
  giveUp(one: LimitedAttempt, nowMs: number): number {
    const destination = this.destination(one.actionId)
    return this.defer(destination, this.limitOf(destination), nowMs)
  }

  /**
   * Gives a slot back.
   *
   * @param held how long the attempt held it and whether the receiver answered at all; null when nothing was sent
   */
  release(
    one: LimitedAttempt,
    held: { readonly durationMs: number; readonly answered: boolean } | null,
    nowMs: number,
  ): void {
    const destination = this.destination(one.actionId)
    destination.movedAtMs = nowMs
    destination.running--
    this.running--
    this.bytes -= one.bodyBytes
    if (held !== null) {
      const isFast = held.answered && held.durationMs < FAST_MS
      destination.averageMs = isFast
        ? Math.max(1, held.durationMs)
        : (destination.averageMs + held.durationMs) / 2
      destination.failures = held.answered ? 0 : destination.failures + 1
      if (isFast) destination.freeAtMs = 0
    }
    // An idle destination that is well has nothing worth remembering.
    if (destination.running === 0 && destination.failures === 0) this.destinations.delete(one.actionId)
  }

  private limitOf(destination: Destination): number {
    const { failures, averageMs } = destination
    if (failures >= this.limits.perDeadAction) return this.limits.perDeadAction
    const isFast = failures === 0 && averageMs > 0 && averageMs < AHEAD_MS
    return isFast ? this.limits.perFastAction : this.limits.perAction
  }

  /** Attempts that are deferred queue up in time: each gets the next place. */
  private defer(destination: Destination, limit: number, nowMs: number): number {
    const turnMs = Math.max(destination.averageMs, nowMs - destination.movedAtMs)
    destination.freeAtMs = Math.max(destination.freeAtMs, nowMs) + turnMs / limit
    return Math.min(DEFER_MAX_MS, Math.max(DEFER_MIN_MS, destination.freeAtMs - nowMs))
  }

  private destination(actionId: string): Destination {
    let destination = this.destinations.get(actionId)
    if (destination === undefined) {
      destination = { running: 0, averageMs: 0, failures: 0, freeAtMs: 0, movedAtMs: 0, waitedAtMs: -LINE_MS }
      this.destinations.set(actionId, destination)
    }
    return destination
  }
}
