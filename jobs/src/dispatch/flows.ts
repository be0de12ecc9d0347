import type { Services } from '@creel/core'
import {
  claimDeferred,
  endDrain,
  type FlowSignalKind,
  flowSignalOf,
  flowsWithWork,
  LATE_MS_MAX,
  LEAD_MS_MAX,
  type PacedAttempt,
  type Picked,
  pickAttempts,
  postponeFirst,
  reserveStart,
} from '@creel/core/deliveries'
import { sleep } from '@creel/core/platform/time'

/** The most attempts that one look takes. */
const LOOK_ATTEMPTS_MAX = 128
/** While another process looks at a flow, this one tries again after so long, and up to twice as long. */
const BUSY_MS = 20
/** After an error a flow is looked at again. */
const RETRY_MS = 1000
/** When a delivery that could not be begun is looked at again. */
const UNREADABLE_MS = 60_000
/** The least time between a look and the first start that it hands out. */
const LEAD_MS_MIN = 10
/** A newer sample of how the clocks differ replaces the best one after so many. */
const CLOCK_SAMPLES = 64
/** A timer of the machine counts to 2^31 milliseconds. */
const TIMER_MS_MAX = 3_600_000

/** Parts of the dispatcher that flows use. */
export interface FlowPorts {
  /** How many attempts of an action could begin now. */
  room(actionId: string): number
  /** Resolves when there may be room again. */
  hasRoom(): Promise<void>
  /** Makes an attempt; it waits for `ready` right before it goes out. */
  begin(paced: PacedAttempt, ready: () => Promise<void>): void
}

/** The flows of governed actions, as far as this process sends them. */
export interface Flows {
  /** Takes nothing further; resolves when no look is under way. */
  stop(): Promise<void>
}

/** State of a flow in this process. */
interface Watch {
  looking: Promise<void> | null
  /** The strongest signal that came during a look. */
  heard: FlowSignalKind | null
  opensBy: Picked['opensBy']
  timer: ReturnType<typeof setTimeout> | null
  /** By the service's clock, when the timer is for a known time. */
  nextLookAt: number | null
}

const STRENGTH = { work: 0, end: 1, change: 2 } as const

/**
 * Sends the deliveries of governed actions. A flow is looked at when something is announced of it, and when its next delivery may go out:
 * that time is known, so nothing is polled. A look that missed its announcement follows with the regular wake-up of all listeners.
 */
export function startFlows(services: Services, ports: FlowPorts): Flows {
  const watches = new Map<string, Watch>()
  const clock = new SharedClock()
  let leadMs = LEAD_MS_MIN
  let isStopping = false

  const watchOf = (actionId: string): Watch => {
    let watch = watches.get(actionId)
    if (watch === undefined) {
      watch = { looking: null, heard: null, opensBy: 'work', timer: null, nextLookAt: null }
      watches.set(actionId, watch)
    }
    return watch
  }

  const signal = (actionId: string, kind: FlowSignalKind) => {
    if (isStopping) return
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
        services.log.error({ err, actionId }, 'could not look at the flow of an action')
        return RETRY_MS
      })
      .then((nextMs) => {
        watch.looking = null
        if (isStopping) return
        if (nextMs !== null) {
          watch.nextLookAt = services.clock.now().getTime() + nextMs
          watch.timer = setTimeout(() => look(actionId, watch), Math.min(nextMs, TIMER_MS_MAX))
        } else if (watch.opensBy === 'work') watches.delete(actionId)
      })
  }

  /** @returns when to look again; null where a signal tells */
  const lookUntilDone = async (actionId: string, watch: Watch): Promise<number | null> => {
    for (;;) {
      watch.heard = null
      const slots = Math.min(LOOK_ATTEMPTS_MAX, ports.room(actionId))
      if (isStopping) return null
      if (slots === 0) {
        await ports.hasRoom()
        continue
      }
      const picked = await pick(actionId, slots)
      watch.opensBy = picked.opensBy
      if (picked.isBusy) return BUSY_MS * (1 + Math.random())
      for (const paced of picked.attempts) ports.begin(paced, () => mayStart(actionId, paced))
      if (picked.others.length > 0) await claimDeferred(services, picked.others)
      const isIdle = picked.attempts.length === 0 && !picked.hasMore && picked.opensBy === 'work'
      if (isIdle && picked.drainPerSecond !== null) await endDrain(services, actionId)
      if (picked.hasMore) continue
      if (watch.heard !== null && opens(watch.opensBy, watch.heard)) continue
      return picked.nextLookInMs
    }
  }

  /** When several cannot be begun, one is tried; that one is put off when it is at fault, so that it stops no other. */
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
      if (!isStrict || isStopping || lateMs <= LATE_MS_MAX) return
      const earliest = clock.toShared(services.clock.now().getTime() + leadMs)
      at = await reserveStart(services, actionId, { earliest, spacingMs })
    }
  }

  const lookAtAll = async () => {
    const now = services.clock.now().getTime()
    for (const actionId of await flowsWithWork(services)) {
      const watch = watches.get(actionId)
      const isPlanned =
        watch?.nextLookAt !== null && watch?.nextLookAt !== undefined && watch.nextLookAt > now
      if (!isPlanned) signal(actionId, 'change')
    }
  }

  const stopListening = services.endpointChanges.onAny((announced) => {
    if (announced === null) {
      lookAtAll().catch((err: unknown) => services.log.debug({ err }, 'could not look for flows'))
      return
    }
    const heard = flowSignalOf(announced)
    if (heard !== undefined) signal(heard.actionId, heard.kind)
  })

  return {
    async stop() {
      isStopping = true
      stopListening()
      for (const { timer } of watches.values()) if (timer !== null) clearTimeout(timer)
      await Promise.all([...watches.values()].map(({ looking }) => looking))
    },
  }
}

function opens(by: Picked['opensBy'], heard: FlowSignalKind): boolean {
  return STRENGTH[heard] >= STRENGTH[by]
}

/**
 * The clock of the database, by which starts are handed out to all processes. An answer of the database is late by the way that it took:
 * the sample with the least difference is the best.
 */
class SharedClock {
  #differenceMs = Number.POSITIVE_INFINITY
  #age = 0

  /** Learns from an answer that was made at `shared` and arrived at `local`. */
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
