/** What one process sends at once. */
export interface LaneLimits {
  /** Tries under way, over all actions. */
  readonly total: number
  /** Tries under way to one action that answers. */
  readonly perAction: number
  /** The same for an action that does not. */
  readonly perDeadAction: number
  /** Bytes of bodies under way; one body is let through however large it is. */
  readonly bytes: number
}

export const LANE_LIMITS: LaneLimits = {
  total: 1024,
  perAction: 128,
  perDeadAction: 16,
  bytes: 256 * 1024 * 1024,
}

/** A try that answers within this time shows a living receiver; one that takes longer, or fails, a slow one. */
const FAST_MS = 1000
/** A lane that has not answered yet counts as stuck after this: its tries must not hold up those of others for long. */
const UNPROVEN_MS = 250
/** The longest time for which a try is put off because its action has no free slot. */
const PUT_OFF_MAX_MS = 60_000
const PUT_OFF_MIN_MS = 1000

/** What a lane must know of a try. */
export interface LaneTry {
  readonly actionId: string
  readonly bodyBytes: number
}

/** What to do with a try: start it now, wait for a slot that will be free soon, or come back later. */
export type Admission = 'start' | 'wait' | { readonly afterMs: number }

interface Lane {
  running: number
  /** Moving average of how long a try holds its slot. */
  averageMs: number
  /** Failures in a row, without a fast answer in between. */
  failures: number
  /** When the next put-off try will find a slot, by what is known. */
  freeAtMs: number
  /** When a slot was last given back, or the first one taken. */
  movedAtMs: number
}

/**
 * Hands out the slots of one process: one lane an action, so that a destination that does not answer holds up
 * its own tries and nobody else's.
 *
 * A lane that answers lets tries wait the milliseconds until a slot is free. One that does not answer sends them
 * away, each to a later time, so that its backlog is not looked at again and again. Pure but for its own counts;
 * times are milliseconds of any steady clock.
 */
export class Lanes {
  private readonly lanes = new Map<string, Lane>()
  private running = 0
  private bytes = 0

  constructor(private readonly limits: LaneLimits = LANE_LIMITS) {}

  /** Tries under way. */
  get size(): number {
    return this.running
  }

  /** Takes a slot when there is one; every `start` must be given back through {@link release}. */
  admit(one: LaneTry, nowMs: number): Admission {
    const lane = this.lane(one.actionId)
    const isFull = this.running >= this.limits.total
    if (isFull || (this.bytes > 0 && this.bytes + one.bodyBytes > this.limits.bytes)) return 'wait'
    const limit = this.limitOf(lane)
    if (lane.running < limit) {
      if (lane.running === 0) lane.movedAtMs = nowMs
      lane.running++
      this.running++
      this.bytes += one.bodyBytes
      return 'start'
    }
    // A lane in which nothing moves does not answer, though no try has timed out yet.
    const isStuck = nowMs - lane.movedAtMs >= (lane.averageMs === 0 ? UNPROVEN_MS : FAST_MS)
    if (lane.failures === 0 && lane.averageMs < FAST_MS && !isStuck) return 'wait'
    return { afterMs: this.putOff(lane, limit, nowMs) }
  }

  /** How long a try waits that has lost its patience: its lane said `wait` for too long. */
  giveUp(one: LaneTry, nowMs: number): number {
    const lane = this.lane(one.actionId)
    return this.putOff(lane, this.limitOf(lane), nowMs)
  }

  /**
   * Gives a slot back.
   *
   * @param held how long the try held it and whether the receiver answered at all; null when nothing was sent
   */
  release(
    one: LaneTry,
    held: { readonly durationMs: number; readonly answered: boolean } | null,
    nowMs: number,
  ): void {
    const lane = this.lane(one.actionId)
    lane.movedAtMs = nowMs
    lane.running--
    this.running--
    this.bytes -= one.bodyBytes
    if (held !== null) {
      const isFast = held.answered && held.durationMs < FAST_MS
      lane.averageMs = isFast ? held.durationMs : (lane.averageMs + held.durationMs) / 2
      lane.failures = held.answered ? 0 : lane.failures + 1
      if (isFast) lane.freeAtMs = 0
    }
    // An idle lane that is well has nothing worth remembering.
    if (lane.running === 0 && lane.failures === 0) this.lanes.delete(one.actionId)
  }

  private limitOf(lane: Lane): number {
    return lane.failures >= this.limits.perDeadAction ? this.limits.perDeadAction : this.limits.perAction
  }

  /** Tries that are put off queue up in time: each gets the next place. */
  private putOff(lane: Lane, limit: number, nowMs: number): number {
    const turnMs = Math.max(lane.averageMs, nowMs - lane.movedAtMs)
    lane.freeAtMs = Math.max(lane.freeAtMs, nowMs) + turnMs / limit
    return Math.min(PUT_OFF_MAX_MS, Math.max(PUT_OFF_MIN_MS, lane.freeAtMs - nowMs))
  }

  private lane(actionId: string): Lane {
    let lane = this.lanes.get(actionId)
    if (lane === undefined) {
      lane = { running: 0, averageMs: 0, failures: 0, freeAtMs: 0, movedAtMs: 0 }
      this.lanes.set(actionId, lane)
    }
    return lane
  }
}
