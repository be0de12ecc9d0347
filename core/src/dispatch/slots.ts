import { Line } from './line.ts'

export interface SlotLimits {
  /** Sends in flight, over all lanes. */
  readonly total: number
  /** Sends in flight of one lane, which is the number of its connections. */
  readonly perLane: number
  /** The same for a lane that is known to be answered fast. Sends beyond {@link perLane} wait for a connection. */
  readonly perFastLane: number
  /** The same for a lane that gets no answers. */
  readonly perDeadLane: number
  /** Bytes of bodies in flight. One body is admitted whatever its size. */
  readonly bytes: number
}

/**
 * The limits of a program: 1536 sends and 256 MiB of bodies at once. If a fast destination stops answering, the sends
 * claimed ahead wait for three timeouts of 15 s, which is well within a lease.
 */
export const SLOT_LIMITS: SlotLimits = {
  total: 1536,
  perLane: 128,
  perFastLane: 512,
  perDeadLane: 16,
  bytes: 256 * 1024 * 1024,
}

/**
 * Limits of one process of a program with several, which divide them. A lane without answers has at least one slot in
 * each.
 */
export function dividedLimits(processes: number): SlotLimits {
  const { total, perLane, perFastLane, perDeadLane, bytes } = SLOT_LIMITS
  return {
    total: Math.ceil(total / processes),
    perLane: Math.ceil(perLane / processes),
    perFastLane: Math.ceil(perFastLane / processes),
    perDeadLane: Math.ceil(perDeadLane / processes),
    bytes: bytes / processes,
  }
}

/** Part of all slots that a workspace may hold while another one that holds less waits for a slot. */
const SHARE = 1 / 4
/** Part of all slots, and of those of a workspace, that is kept for lanes with fast answers. */
const RESERVE = 1 / 8
/** Slots in the reserve for a lane that was never answered, and for all slow lanes of a workspace. */
const RESERVE_UNPROVEN = 4
/** For this time after a workspace has asked for a slot, no other may hold all of them. */
const ALONE_AFTER_MS = 60_000

/** An answer within this time is fast. One that takes longer, or fails, is slow. */
const FAST_MS = 1000
/** A lane that was never answered counts as stuck after this time, so that it does not delay others for long. */
const UNPROVEN_MS = 250
/** If a lane's sends take less than this, some may be claimed ahead. They wait for at most a second. */
const AHEAD_MS = 250
/** The most lanes whose answers are remembered. The one that is idle for longest is dropped first. */
const LANES_MAX = 10_000

/** Unit of order, policy and fairness: an action, an alert channel, a subscription. Ids are unique over all kinds. */
export interface Lane {
  readonly id: string
  readonly workspaceId: string
}

/** Time for which a send held its slot, and whether the receiver answered. */
export interface HeldSlot {
  readonly durationMs: number
  readonly answered: boolean
}

interface Load {
  running: number
  bytes: number
}

/** Further slots that a workspace may have. */
interface Room {
  /** Outside the reserve. */
  readonly own: number
  /** Until it holds a quarter of all. */
  readonly quarter: number
  /** Free slots of the whole process. */
  readonly free: number
  /** Slots that it holds. */
  readonly running: number
}

interface LaneState {
  running: number
  /** Moving average of how long a send holds its slot; 0 if it was never measured. */
  averageMs: number
  /** Consecutive sends without an answer. */
  failures: number
  /** When a slot was last given back, or the first one taken. */
  movedAtMs: number
  /** Looks that wait for slots. */
  waiting: number
}

/**
 * Hands out the slots of one process to sends of every kind: fairly by workspace, then by lane.
 *
 * - While another workspace that holds less than a quarter of the slots waits, no workspace gets more than a quarter.
 *   If others have asked for slots within a minute, a workspace may hold as many as it leaves free. A workspace alone
 *   may hold all but the reserve.
 * - An eighth of the slots is a reserve for lanes whose answers take less than a second on average. A lane without an
 *   answer yet has four slots there, and so have all slow lanes of a workspace together. In the reserve, too, a
 *   workspace may hold as many slots as it leaves free.
 * - A lane may hold as many slots as it leaves free of those of its workspace. Slow lanes leave an eighth of them.
 * - Lanes that wait for slots get them in turns: see {@link Line}.
 *
 * The rule "as many as it leaves free" keeps room for one more workspace or lane, however many there are.
 *
 * Times are milliseconds of any monotonic clock.
 */
export class Slots {
  readonly limits: SlotLimits
  readonly #now: () => number
  /** Busy lanes, and idle ones in the order in which they became idle. */
  readonly #lanes = new Map<string, LaneState>()
  readonly #workspaces = new Map<string, Load>()
  /** The workspace that asked for slots last, and another one that asked before it. */
  #asked = { id: '', atMs: Number.NEGATIVE_INFINITY }
  #askedBefore = this.#asked
  readonly #line = new Line<Lane>({
    own: (lane) => this.#own(this.#lane(lane)),
    shared: (workspaceId) => this.#shared(workspaceId),
    take: (lane, slots) => this.#count(lane, slots, 0),
  })
  #running = 0
  #bytes = 0

  constructor(limits: SlotLimits = SLOT_LIMITS, now: () => number = () => performance.now()) {
    this.limits = limits
    this.#now = now
  }

  get size(): number {
    return this.#running
  }

  /**
   * Takes a slot for a send that no look has claimed, if no other is before it: the lane is answered, none of its looks
   * waits for slots, and half of its slots stay free for them.
   *
   * @returns false if it took none: the send waits in its lane
   */
  takeIdle(lane: Lane, bytes: number): boolean {
    const state = this.#lane(lane)
    const isBusy =
      state.failures > 0 ||
      state.waiting > 0 ||
      state.running >= this.limits.perLane / 2 ||
      this.#loadOf(lane.workspaceId).running >= this.limits.total / 2 ||
      this.#bytes + bytes > this.limits.bytes / 2
    return !isBusy && this.admit(lane, bytes)
  }

  /** Takes a slot if there is one. Give it back through {@link release}. */
  admit(lane: Lane, bytes: number): boolean {
    const now = this.#now()
    const state = this.#lane(lane)
    const room = this.#room(lane.workspaceId, bytes, now)
    if (state.running >= this.#limitOf(state) || room === null || roomOf(room, state, now) < 1) return false
    this.take(lane, bytes)
    return true
  }

  /**
   * Waits for the lane's turn and holds slots for it: at most `most`, at least one, none once the signal has aborted.
   * Each held slot is used by a send, see {@link use}, or given back, see {@link giveBack}.
   */
  async hold(lane: Lane, most: number, signal?: AbortSignal): Promise<number> {
    const held = this.#line.isEmpty && signal?.aborted !== true ? this.#hold(lane, most) : 0
    if (held > 0) return held
    const state = this.#lane(lane)
    state.waiting += 1
    try {
      return await this.#line.join(lane, most, signal)
    } finally {
      state.waiting -= 1
    }
  }

  use(lane: Lane, bytes: number): void {
    this.#count(lane, 0, bytes)
  }

  /** Gives back held slots that no send has used. */
  giveBack(lane: Lane, slots: number): void {
    if (slots > 0) this.#count(lane, -slots, 0)
  }

  /** Takes a slot, whatever the limits. */
  take(lane: Lane, bytes: number): void {
    this.#count(lane, 1, bytes)
  }

  /**
   * Gives the slot of a send back.
   *
   * @param held how long it was held; null when nothing was sent
   */
  release(lane: Lane, bytes: number, held: HeldSlot | null): void {
    const state = this.#lane(lane)
    if (held !== null) {
      const { durationMs, answered } = held
      const averageMs = state.averageMs === 0 ? durationMs : (state.averageMs + durationMs) / 2
      state.averageMs = Math.max(1, averageMs)
      state.failures = answered ? 0 : state.failures + 1
    }
    this.#count(lane, -1, -bytes)
  }

  #hold(lane: Lane, most: number): number {
    const state = this.#lane(lane)
    const own = this.#own(state)
    const held = own <= 0 ? 0 : Math.min(most, own, this.#shared(lane.workspaceId)?.(lane) ?? 0)
    if (held > 0) this.#count(lane, held, 0)
    return held
  }

  /** Further slots that the lane may have, whatever others hold. */
  #own(state: LaneState): number {
    const free = this.#limitOf(state) - state.running
    // While all connections are in use, sends are claimed many at once, so that a claim costs little for each.
    return state.running > this.limits.perLane && free < this.limits.perLane ? 0 : free
  }

  /** Further slots that lanes of the workspace may have; null if none may have any. */
  #shared(workspaceId: string): ((lane: Lane) => number) | null {
    if (this.#running >= this.limits.total) return null
    const now = this.#now()
    const room = this.#room(workspaceId, 0, now)
    if (room === null || mostOf(room) < 1) return null
    return (lane) => roomOf(room, this.#lane(lane), now)
  }

  /** Further slots that the workspace may have; null if a body of so many bytes does not fit. */
  #room(workspaceId: string, bytes: number, now: number): Room | null {
    const { total } = this.limits
    const { running } = this.#loadOf(workspaceId)
    const others = this.#othersThan(workspaceId, now)
    if (!this.#fits(workspaceId, bytes, others === 'none')) return null
    const free = total - this.#running
    const open = free - total * RESERVE
    const quarter = total * SHARE - running
    const shared = others === 'wait' ? quarter : Math.max(quarter, (open - running) / 2)
    return { own: others === 'none' ? open : Math.min(open, shared), quarter, free, running }
  }

  /** Whether a body fits into the memory for bodies, of which a workspace may hold as much as it leaves free. */
  #fits(workspaceId: string, bytes: number, isAlone: boolean): boolean {
    if (this.#bytes === 0) return true
    const free = this.limits.bytes - this.#bytes - bytes
    const own = this.#loadOf(workspaceId).bytes
    return free >= 0 && this.#bytes < this.limits.bytes && (isAlone || own === 0 || own + bytes <= free)
  }

  /** Whether other workspaces have asked for slots lately, and whether one with less than its share waits for one. */
  #othersThan(workspaceId: string, now: number): 'none' | 'some' | 'wait' {
    if (this.#asked.id !== workspaceId) {
      this.#askedBefore = this.#asked
      this.#asked = { id: workspaceId, atMs: now }
    }
    this.#asked.atMs = now
    // Few hold a quarter, so that this ends soon.
    for (const id of this.#line.workspaces) if (id !== workspaceId && this.#isBelowShare(id)) return 'wait'
    return now - this.#askedBefore.atMs < ALONE_AFTER_MS ? 'some' : 'none'
  }

  #isBelowShare(workspaceId: string): boolean {
    return (this.#workspaces.get(workspaceId)?.running ?? 0) < this.limits.total * SHARE
  }

  #limitOf({ failures, averageMs }: LaneState): number {
    if (failures >= this.limits.perDeadLane) return this.limits.perDeadLane
    const isFast = failures === 0 && averageMs > 0 && averageMs < AHEAD_MS
    return isFast ? this.limits.perFastLane : this.limits.perLane
  }

  #count(lane: Lane, slots: number, bytes: number): void {
    const state = this.#lane(lane)
    if (slots < 0 || state.running === 0) state.movedAtMs = this.#now()
    state.running += slots
    this.#running += slots
    this.#bytes += bytes
    const load = this.#loadOf(lane.workspaceId)
    load.running += slots
    load.bytes += bytes
    if (load.running > 0) this.#workspaces.set(lane.workspaceId, load)
    else this.#workspaces.delete(lane.workspaceId)
    if (state.running === 0) {
      this.#lanes.delete(lane.id)
      this.#lanes.set(lane.id, state)
    }
    if (slots < 0) this.#line.freed(lane)
  }

  #loadOf(workspaceId: string): Load {
    return this.#workspaces.get(workspaceId) ?? { running: 0, bytes: 0 }
  }

  #lane({ id }: Lane): LaneState {
    let state = this.#lanes.get(id)
    if (state === undefined) {
      state = {
        running: 0,
        averageMs: 0,
        failures: 0,
        movedAtMs: Number.NEGATIVE_INFINITY,
        waiting: 0,
      }
      this.#lanes.set(id, state)
      if (this.#lanes.size > LANES_MAX) this.#forgetOne(id)
    }
    return state
  }

  /** Drops the lane that is idle for longest, but not the one given. */
  #forgetOne(kept: string): void {
    for (const [id, { running, waiting }] of this.#lanes) {
      if (running > 0 || waiting > 0 || id === kept) continue
      this.#lanes.delete(id)
      return
    }
  }
}

/** The most further slots that any lane of a workspace may have. */
function mostOf({ own, quarter, free, running }: Room): number {
  return Math.max(own / 2, Math.min(quarter, (free - running) / 2))
}

/** Further slots that a lane of the workspace may have. */
function roomOf({ own, quarter, free, running }: Room, state: LaneState, now: number): number {
  const isProven = state.averageMs > 0
  const isFast = isProven && !isSlow(state, now)
  const kept = isFast ? 0 : (own + running) * RESERVE
  const common = Math.min(own, (own - kept - state.running) / 2)
  const unproven = RESERVE_UNPROVEN - (isProven ? running : state.running)
  const reserved = Math.min(quarter, (free - running) / 2, isFast ? free : unproven)
  return Math.max(0, Math.floor(Math.max(common, reserved)))
}

/** Whether a lane fails, takes a second or longer on average, or is stuck: nothing of it has ended for a while. */
function isSlow({ running, failures, averageMs, movedAtMs }: LaneState, now: number): boolean {
  const isStuck = running > 0 && now - movedAtMs >= (averageMs === 0 ? UNPROVEN_MS : FAST_MS)
  return failures > 0 || averageMs >= FAST_MS || isStuck
}
