import type { Services } from '../../api/services.ts'
import type { SlotLane } from '../../dispatch/index.ts'
import { sleep } from '../../platform/time/index.ts'
import { claimDeferred } from '../claimDeferred.ts'
import { LATE_MS_MAX, LEAD_MS_MAX } from './decide.ts'
import { NOTHING, type PacedAttempt, type Picked, pickAttempts } from './pick.ts'
import { flowSignalOf } from './signals.ts'
import { endDrain, postponeFirst, reserveStart, workspaceOfAction } from './upkeep.ts'

/** The most attempts that one look takes: the first one few, further ones up to twice as many as the one before. */
const LOOK_ATTEMPTS_MIN = 16
const LOOK_ATTEMPTS_MAX = 128
/** The most actions whose workspace is remembered. */
const KNOWN_MAX = 10_000
/** Delay before a retry while another process looks at the flow: this long, up to twice as long. */
const BUSY_MS = 20
/** Delay before the next look at a flow after an error. */
const RETRY_MS = 1000
/** Delay until a delivery that could not be begun is looked at again. */
const UNREADABLE_MS = 60_000
/** The shortest time between a look and the first start that it schedules. */
const LEAD_MS_MIN = 10
/** After this many samples a newer one of the clock difference replaces the best one. */
const CLOCK_SAMPLES = 64
/** The longest timer. A JavaScript timer holds less than 2^31 milliseconds. */
const TIMER_MS_MAX = 3_600_000

/** Parts of the dispatcher that flows use. */
export interface FlowPorts {
  /** Waits for slots of an action: at least one and at most `most`; none once the signal has aborted. */
  hold(lane: SlotLane, most: number, signal: AbortSignal): Promise<number>
  /** Gives back slots that no attempt has used. */
  giveBack(lane: SlotLane, slots: number): void
  /** Makes an attempt in a held slot. It waits for `ready` right before it is sent. */
  begin(lane: SlotLane, paced: PacedAttempt, ready: () => Promise<void>): void
}

/** The flows of governed actions in this process. */
export interface Flows {
  /** Begins no further look. Resolves when none is running. */
  stop(): Promise<void>
}

/** State of a flow in this process. */
interface Watch {
  looking: Promise<void> | null
  /** The strongest signal received during a look. */
  heard: Reason | null
  opensBy: Picked['opensBy']
  timer: ReturnType<typeof setTimeout> | null
  /** Time of the next look by the service's clock; null if a signal leads to it. */
  nextLookAt: number | null
}

const STRENGTH = { work: 0, end: 1, change: 2 } as const

/** A signal that leads to a look, by its strength. */
type Reason = keyof typeof STRENGTH

/**
 * Sends the deliveries of governed actions. A flow is looked at when a signal for it arrives, and when its next
 * delivery may start: that time is known, so there is no polling. A signal or a timer that is lost with its process is
 * made up for by `deliveries.flows`.
 */
export function startFlows(services: Services, ports: FlowPorts): Flows {
  const watches = new Map<string, Watch>()
  const workspaces = new Map<string, string>()
  const clock = new SharedClock()
  const stopping = new AbortController()
  let leadMs = LEAD_MS_MIN

  const watchOf = (actionId: string): Watch => {
    let watch = watches.get(actionId)
    if (watch === undefined) {
      watch = { looking: null, heard: null, opensBy: 'work', timer: null, nextLookAt: null }
      watches.set(actionId, watch)
    }
    return watch
  }

  const signal = (actionId: string, kind: Reason) => {
    if (stopping.signal.aborted) return
    const watch = watchOf(actionId)
    if (watch.looking !== null) {
      if (watch.heard === null || STRENGTH[kind] > STRENGTH[watch.heard]) watch.heard = kind
    } else if (opens(watch.opensBy, kind)) look(actionId, watch)
  }

  const look = (actionId: string, watch: Watch) => {
    if (watch.timer !== null) clearTimeout(watch.timer)
    watch.timer = null
    watch.nextLookAt = null
    watch.looking = lookUntilDone(actionId, watch)
      .catch((err: unknown) => {
        services.log.error({ err, actionId }, 'could not read the flow of an action')
        return RETRY_MS
      })
      .then((nextMs) => {
        watch.looking = null
        if (stopping.signal.aborted) return
        if (nextMs !== null) {
          watch.nextLookAt = services.clock.now().getTime() + nextMs
          watch.timer = setTimeout(() => look(actionId, watch), Math.min(nextMs, TIMER_MS_MAX))
        } else if (watch.opensBy === 'work') watches.delete(actionId)
      })
  }

  /** @returns the delay until the next look; null if a signal leads to it */
  const lookUntilDone = async (actionId: string, watch: Watch): Promise<number | null> => {
    const lane = await laneOf(actionId)
    if (lane === undefined) return null
    for (let most = LOOK_ATTEMPTS_MIN; ; most = Math.min(LOOK_ATTEMPTS_MAX, 2 * most)) {
      watch.heard = null
      const picked = await pickInSlots(lane, most)
      watch.opensBy = picked.opensBy
      if (picked.isBusy) return BUSY_MS * (1 + Math.random())
      if (picked.others.length > 0) await claimDeferred(services, picked.others)
      const isIdle = picked.attempts.length === 0 && !picked.hasMore && picked.opensBy === 'work'
      if (isIdle && picked.drainPerSecond !== null) await endDrain(services, actionId)
      if (picked.hasMore) continue
      if (watch.heard !== null && opens(watch.opensBy, watch.heard)) continue
      return picked.nextLookInMs
    }
  }

  const laneOf = async (actionId: string): Promise<SlotLane | undefined> => {
    const workspaceId = workspaces.get(actionId) ?? (await workspaceOfAction(services, actionId))
    if (workspaceId === undefined) return undefined
    if (workspaces.size >= KNOWN_MAX) workspaces.clear()
    workspaces.set(actionId, workspaceId)
    return { id: actionId, workspaceId }
  }

  /** Waits for slots, picks attempts for them and begins these. */
  const pickInSlots = async (lane: SlotLane, most: number): Promise<Picked> => {
    let slots = await ports.hold(lane, most, stopping.signal)
    if (slots === 0) return NOTHING
    try {
      const picked = await pick(lane.id, slots)
      for (const paced of picked.attempts) {
        slots -= 1
        ports.begin(lane, paced, () => mayStart(lane.id, paced))
      }
      return picked
    } finally {
      ports.giveBack(lane, slots)
    }
  }

  /**
   * Picks attempts. If several cannot be begun, it tries one, and postpones that one if it fails, so that it blocks no
   * other.
   */
  const pick = async (actionId: string, slots: number): Promise<Picked> => {
    const begunAt = performance.now()
    try {
      const picked = await pickAttempts(services, actionId, { slots, leadMs })
      const tookMs = performance.now() - begunAt
      leadMs = Math.min(LEAD_MS_MAX, Math.max(LEAD_MS_MIN, 2 * tookMs, leadMs * 0.9))
      if (picked.clockAt > 0) clock.sample(picked.clockAt, services.clock.now().getTime())
      return picked
    } catch (err) {
      if (slots > 1) return await pick(actionId, 1)
      await postponeFirst(services, actionId, UNREADABLE_MS)
      throw err
    }
  }

  const mayStart = async (actionId: string, { startAt, spacingMs, isStrict }: PacedAttempt) => {
    let at = startAt
    while (at !== null) {
      const local = services.clock.now().getTime()
      const waitMs = clock.toLocal(at) - local
      if (waitMs > 0) await sleep(waitMs)
      const lateMs = services.clock.now().getTime() - clock.toLocal(at)
      if (!isStrict || stopping.signal.aborted || lateMs <= LATE_MS_MAX) return
      const earliest = clock.toShared(services.clock.now().getTime() + leadMs)
      at = await reserveStart(services, actionId, { earliest, spacingMs })
    }
  }

  /** Whether the next look at a flow has a time. */
  const isPlanned = (actionId: string) =>
    (watches.get(actionId)?.nextLookAt ?? 0) > services.clock.now().getTime()

  const stopListening = services.endpointChanges.onAny((announced) => {
    const heard = announced === null ? undefined : flowSignalOf(announced)
    if (heard === undefined) return
    const { actionId, kind } = heard
    if (kind !== 'overdue') signal(actionId, kind)
    else if (!isPlanned(actionId)) signal(actionId, 'change')
  })

  return {
    async stop() {
      stopping.abort()
      stopListening()
      for (const { timer } of watches.values()) if (timer !== null) clearTimeout(timer)
      await Promise.all([...watches.values()].map(({ looking }) => looking))
    },
  }
}

function opens(by: Picked['opensBy'], heard: Reason): boolean {
  return STRENGTH[heard] >= STRENGTH[by]
}

/**
 * The clock of the database, by which starts are scheduled for all processes. Each answer is late by its network delay,
 * so the sample with the least difference is the best.
 */
class SharedClock {
  #differenceMs = Number.POSITIVE_INFINITY
  #age = 0

  /** Adds a sample: an answer that was made at `shared` and arrived at `local`. */
  sample(shared: number, local: number): void {
    this.#age += 1
    if (local - shared > this.#differenceMs && this.#age < CLOCK_SAMPLES) return
    this.#differenceMs = local - shared
    this.#age = 0
  }

  toLocal(shared: number): number {
    return shared + (Number.isFinite(this.#differenceMs) ? this.#differenceMs : 0)
  }

  toShared(local: number): number {
    return local - (Number.isFinite(this.#differenceMs) ? this.#differenceMs : 0)
  }
}
