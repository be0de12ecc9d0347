/** Limits for the attempts of one process in flight. */
export interface DestinationLimits {
  /** Attempts in flight, over all actions. */
  readonly total: number
  /** Attempts in flight to one action, which is the number of its connections. */
  readonly perAction: number
  /**
   * The same for an action that is known to answer fast. Attempts beyond {@link perAction} are claimed and wait for a
   * connection.
   */
  readonly perFastAction: number
  /** The same for an action that does not answer. */
  readonly perDeadAction: number
  /** Bytes of bodies in flight. One body is admitted whatever its size. */
  readonly bytes: number
}

/**
 * The limits of a program: 1536 attempts and 256 MiB of bodies at once. If a fast destination stops answering,
 * the attempts claimed ahead wait for three timeouts of 15 s, which is well within a lease.
 */
export const DESTINATION_LIMITS: DestinationLimits = {
  total: 1536,
  perAction: 128,
  perFastAction: 512,
  perDeadAction: 16,
  bytes: 256 * 1024 * 1024,
}

/**
 * Limits of one process of a program with several, which divide them. An action that does not answer has at least one
 * slot in each.
 */
export function dividedLimits(processes: number): DestinationLimits {
  const { total, perAction, perFastAction, perDeadAction, bytes } = DESTINATION_LIMITS
  return {
    total: Math.ceil(total / processes),
    perAction: Math.ceil(perAction / processes),
    perFastAction: Math.ceil(perFastAction / processes),
    perDeadAction: Math.ceil(perDeadAction / processes),
    bytes: bytes / processes,
  }
}

/** A receiver that answers within this time is fast. One that takes longer, or fails, is slow. */
const FAST_MS = 1000
/** A destination that has never answered counts as stuck after this time, so that it does not delay others for long. */
const UNPROVEN_MS = 250
/** If an action's attempts take less than this, some may be claimed ahead. They wait for at most a second. */
const AHEAD_MS = 250
/** For this time after an attempt has waited for a slot, others may still be in line. */
const LINE_MS = 1000
/** The longest time for which an attempt is deferred because its action has no free slot. */
const DEFER_MAX_MS = 60_000
const DEFER_MIN_MS = 1000

/** Facts of an attempt that the limiter needs. */
export interface LimitedAttempt {
  readonly actionId: string
  readonly bodyBytes: number
}

/** Decision about an attempt: start it now, wait for a slot that will be free soon, or defer it. */
export type Admission = 'start' | 'wait' | { readonly afterMs: number }

interface Destination {
  running: number
  /** Moving average of how long an attempt holds its slot. */
  averageMs: number
  /** Consecutive failures, without a fast answer in between. */
  failures: number
  /** Expected time of a slot for the next deferred attempt. */
  freeAtMs: number
  /** When a slot was last given back, or the first one taken. */
  movedAtMs: number
  /** When an attempt last found no slot. */
  waitedAtMs: number
}

/**
 * Hands out the slots of one process. Each action is a destination of its own, so that one which does not answer delays
 * only its own attempts.
 *
 * Attempts to a destination that answers wait the milliseconds until a slot is free. Attempts to one that does not are
 * deferred, each to a later time, so that its backlog is not looked at again and again. The class has no state but its
 * counts. Times are milliseconds of any monotonic clock.
 */
export class DestinationLimiter {
  private readonly destinations = new Map<string, Destination>()
  private running = 0
  private bytes = 0

  constructor(private readonly limits: DestinationLimits = DESTINATION_LIMITS) {}

  /** Attempts in flight. */
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
    // A destination without any progress does not answer, even if no attempt has timed out yet.
    const isStuck = nowMs - destination.movedAtMs >= (destination.averageMs === 0 ? UNPROVEN_MS : FAST_MS)
    if (destination.failures === 0 && destination.averageMs < FAST_MS && !isStuck) return 'wait'
    return { afterMs: this.defer(destination, limit, nowMs) }
  }

  /**
   * Takes a slot for an attempt that has no job, if no other is in line before it: the action answers, none of its
   * attempts waits, and half of the slots stay free for attempts from the queue.
   *
   * @returns false if it took none: the attempt must be queued
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

  /** Number of attempts of an action that could get a connection now, whatever the size of their bodies. */
  room(actionId: string): number {
    if (this.bytes >= this.limits.bytes) return 0
    const destination = this.destination(actionId)
    const limit = Math.min(this.limitOf(destination), this.limits.perAction)
    const room = Math.max(0, Math.min(limit - destination.running, this.limits.total - this.running))
    if (destination.running === 0 && destination.failures === 0) this.destinations.delete(actionId)
    return room
  }

  /** Takes a slot for a claimed attempt, for which there was {@link room}. Give it back through {@link release}. */
  take(one: LimitedAttempt, nowMs: number): void {
    const destination = this.destination(one.actionId)
    if (destination.running === 0) destination.movedAtMs = nowMs
    destination.running++
    this.running++
    this.bytes += one.bodyBytes
  }

  /** Defers an attempt whose wait for a slot took too long. Returns the milliseconds until it should be tried again. */
  giveUp(one: LimitedAttempt, nowMs: number): number {
    const destination = this.destination(one.actionId)
    return this.defer(destination, this.limitOf(destination), nowMs)
  }

  /**
   * Gives a slot back.
   *
   * @param held time for which the attempt held it, and whether the receiver answered; null when nothing was sent
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
    // An idle destination without failures needs no state.
    if (destination.running === 0 && destination.failures === 0) this.destinations.delete(one.actionId)
  }

  private limitOf(destination: Destination): number {
    const { failures, averageMs } = destination
    if (failures >= this.limits.perDeadAction) return this.limits.perDeadAction
    const isFast = failures === 0 && averageMs > 0 && averageMs < AHEAD_MS
    return isFast ? this.limits.perFastAction : this.limits.perAction
  }

  /** Defers an attempt. Each deferred attempt gets the next free time. */
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
