import type { Services } from '../api/services.ts'
import { within } from '../platform/time/index.ts'
import { Turns } from '../platform/turns/index.ts'
import {
  type Adapter,
  type Ended,
  type Look,
  type Outcome,
  type Send,
  SIGNALS,
  type Signal,
} from './adapter.ts'
import { type DueLane, type LaneQueue, queueRecovery } from './jobs.ts'
import { sendsInFlight } from './metrics.ts'
import { Pacing, type StartPlace } from './pacing.ts'
import { Recorder } from './recorder.ts'
import type { HeldSlot, Lane, Slots } from './slots.ts'
import { LaneTransactions } from './transactions.ts'

/** The most sends that one look claims: the first one few, further ones up to twice as many as the one before. */
const LOOK_SENDS_MIN = 16
const LOOK_SENDS_MAX = 128
/** Delay before a look while the process is too busy for sends of this kind. */
const BUSY_MS = 400
/** Longest wait of a job for its look, and for one that has its slots: that waits for the database only. */
const JOB_WAIT_MS = 250
const JOB_LOOK_MS = 2500
/** Delay before a look after an error. */
const RETRY_MS = 1000
/** A timer of more than a second ends at a multiple of this, so that lanes are looked at together. */
const TICK_MS = 100
/** Work that is due within this time is also left to a timer of the process that knows it. */
const TIMER_MS_MAX = 60_000
/** The most lanes whose closed state is remembered: a look at one that was forgotten finds that it is closed. */
const WATCHES_MAX = 10_000
/** The last records may take as long as the sends, and at least this long. */
const RECORD_MS_MIN = 1000

/** The sends of one kind in this process. */
export interface RunningLanes<One extends Send = Send> {
  readonly queue: LaneQueue
  /**
   * Holds a slot for a send that is claimed elsewhere, if it could begin at once.
   *
   * @returns undefined when no slot is free: the send waits in its lane
   */
  readonly hold: (lane: Lane, bytes: number) => SendSlot<One> | undefined
  /**
   * Looks at the lane of a job. Resolves soon: if the look takes long, another job is queued, so that none waits for
   * slots. It is not queued for the time that the database takes, or a lane without work would have jobs for ever.
   *
   * @param job the payload as it was stored
   */
  run(job: unknown): Promise<void>
  /** Begins no further send, waits for those in flight and records them. Cuts them off after `timeoutMs`. */
  stop(timeoutMs: number): Promise<void>
}

/** A held slot. Call exactly one of the methods, once. */
export interface SendSlot<One extends Send> {
  /** Begins the send, which is claimed. */
  begin(send: One): void
  release(): void
}

/** State of a lane in this process. */
interface Watch {
  /** Resolves at the end of the look that is under way; it does not fail. */
  looking: Promise<void> | null
  /** Whether the look under way has its slots. */
  hasSlots: boolean
  /** The strongest signal during that look. */
  heard: Signal | null
  /** The weakest signal that leads to another look. */
  opensBy: Signal
  timer: ReturnType<typeof setTimeout> | undefined
  /** When the timer ends, by the clock of the process. */
  timerAt: number
  /** When a send becomes due that the look under way may not see, by the clock of the process. */
  expectedAt: number
}

/**
 * Starts the sends of one kind: a look claims what may start in a lane, each send ends on its own, and results are
 * recorded in batches. There is one look at a lane at a time in a process. The job of a lane leads to a look. Signals,
 * timers and ends of sends lead to further ones sooner, but a lane with work has a job, so that another process
 * continues if this one dies.
 */
export function startLanes<One extends Send, Result extends Outcome>(
  services: Services,
  adapter: Adapter<One, Result>,
  slots: Slots,
): RunningLanes<One> {
  const { kind, queue } = adapter
  const { log, db, clock } = services
  const watches = new Map<string, Watch>()
  const running = new Set<Promise<void>>()
  const stopping = new AbortController()
  const cutOff = new AbortController()
  const pacing = new Pacing(clock)
  const transactions = new LaneTransactions(services, adapter, pacing)
  const { jobs } = transactions
  // Sends wait for a connection after they are claimed, so that the next one begins as soon as an answer is received,
  // without a round trip to the database in between. The slots bound their number.
  const turns = new Turns({ atOnce: slots.limits.perLane })

  const idsOf = ({ id, workspaceId }: Lane, send: One) => ({
    kind,
    workspaceId,
    lane: id,
    ...adapter.idsOf(send),
  })

  const recorder = new Recorder<Ended<One, Result>>(services, {
    leftMs: ({ send }) => send.leaseUntil.getTime() - clock.now().getTime(),
    idsOf: ({ lane, send }) => idsOf(lane, send),
    async record(batch) {
      const lanes = await transactions.record(batch)
      adapter.recorded?.(services, batch)
      const now = clock.now().getTime()
      for (const lane of lanes) {
        if (lane.dueAt.getTime() > now) expect(lane)
        else if (adapter.heard === undefined) void signal(lane, 'end')
      }
    },
  })

  function watchOf({ id }: Lane): Watch {
    const watch = watches.get(id) ?? {
      looking: null,
      hasSlots: false,
      heard: null,
      opensBy: 'work',
      timer: undefined,
      timerAt: Number.POSITIVE_INFINITY,
      expectedAt: Number.POSITIVE_INFINITY,
    }
    watches.set(id, watch)
    return watch
  }

  /** Looks at a lane when a send of it becomes due, if that is soon. Its job makes up for the others. */
  function expect({ dueAt, ...lane }: DueLane): void {
    const waitMs = dueAt.getTime() - clock.now().getTime()
    if (stopping.signal.aborted || waitMs > TIMER_MS_MAX) return
    const watch = watchOf(lane)
    if (watch.looking === null) lookIn(lane, watch, waitMs)
    else watch.expectedAt = Math.min(watch.expectedAt, dueAt.getTime())
  }

  /** Leads to a look after so many milliseconds, unless one comes sooner. */
  function lookIn(lane: Lane, watch: Watch, waitMs: number): void {
    const now = clock.now().getTime()
    const at = waitMs > 1000 ? Math.ceil((now + waitMs) / TICK_MS) * TICK_MS : now + waitMs
    if (watch.timer !== undefined && watch.timerAt <= at) return
    clearTimeout(watch.timer)
    watch.timerAt = at
    watch.timer = setTimeout(() => void look(lane, watch), at - now)
  }

  /** @returns the end of the look, if there is one */
  function signal(lane: Lane, heard: Signal): Promise<void> {
    if (stopping.signal.aborted) return Promise.resolve()
    const watch = watchOf(lane)
    if (watch.looking === null) return opens(watch.opensBy, heard) ? look(lane, watch) : Promise.resolve()
    if (watch.heard === null || opens(watch.heard, heard)) watch.heard = heard
    return watch.looking
  }

  function look(lane: Lane, watch: Watch): Promise<void> {
    clearTimeout(watch.timer)
    watch.timer = undefined
    watch.looking = lookUntilDone(lane, watch).catch((err: unknown) => {
      log.error({ err, kind, lane: lane.id }, 'could not look at a lane')
      endLook(lane, watch, RETRY_MS)
    })
    return watch.looking
  }

  async function lookUntilDone(lane: Lane, watch: Watch): Promise<void> {
    for (let most = LOOK_SENDS_MIN; ; most = Math.min(LOOK_SENDS_MAX, 2 * most)) {
      watch.heard = null
      watch.hasSlots = false
      await recorder.hasRoom()
      const room = adapter.room?.(most) ?? most
      if (room === 0) return endLook(lane, watch, BUSY_MS)
      const held = await slots.hold(lane, room, stopping.signal)
      if (held === 0) return endLook(lane, watch, null)
      watch.hasSlots = true
      const { nextInMs, opensBy = 'work' } = await lookInSlots(lane, held)
      watch.opensBy = opensBy
      if (nextInMs === 0 || (watch.heard !== null && opens(opensBy, watch.heard))) continue
      return endLook(lane, watch, nextInMs)
    }
  }

  /**
   * Ends a look, in the same turn as its last check for signals, so that none is lost in between.
   *
   * @param nextMs milliseconds until the next look; null if a signal leads to it
   */
  function endLook(lane: Lane, watch: Watch, nextMs: number | null): void {
    watch.looking = null
    const expectedMs = Math.max(0, watch.expectedAt - clock.now().getTime())
    watch.expectedAt = Number.POSITIVE_INFINITY
    if (stopping.signal.aborted) return
    const waitMs = Math.min(nextMs ?? Number.POSITIVE_INFINITY, expectedMs)
    if (waitMs <= TIMER_MS_MAX) lookIn(lane, watch, waitMs)
    else if (watch.opensBy === 'work' || watches.size > WATCHES_MAX) watches.delete(lane.id)
  }

  /** Claims sends for held slots and begins them. */
  async function lookInSlots(lane: Lane, held: number): Promise<Look<One>> {
    let unused = held
    try {
      const found = await transactions.claim(lane, held)
      for (const send of found.sends) {
        unused -= 1
        slots.use(lane, send.bytes)
        begin(lane, send)
      }
      await found.afterwards?.()
      return found
    } finally {
      slots.giveBack(lane, unused)
    }
  }

  function begin(lane: Lane, send: One): void {
    const ended = run(lane, send).finally(() => running.delete(ended))
    running.add(ended)
  }

  async function run(lane: Lane, send: One): Promise<void> {
    let held: HeldSlot | null = null
    sendsInFlight.inc({ kind })
    try {
      const { outcome, tookMs } = await turns.run(lane.id, async () => {
        // The process was stopped, or the send waited for too long: another process has it by now.
        if (send.leaseUntil <= clock.now()) return { outcome: null, tookMs: 0 }
        const startedAt = performance.now()
        const outcome = await adapter.send(services, send, cutOff.signal, () => start(lane, send))
        return { outcome, tookMs: performance.now() - startedAt }
      })
      if (outcome === null) return
      const { answered, durationMs = tookMs } = outcome
      if (answered !== null) held = { durationMs, answered }
      recorder.record({ lane, send, outcome })
    } catch (err) {
      // An error of our own fails one send only. It is due again when its lease ends.
      log.error({ err, ...idsOf(lane, send) }, 'could not make a send')
    } finally {
      sendsInFlight.dec({ kind })
      slots.release(lane, send.bytes, held)
    }
  }

  /** Waits until a paced send may start. */
  async function start(lane: Lane, { start: paced }: One): Promise<void> {
    if (paced === undefined || paced === null) return
    const reserve = async (place: StartPlace) => (await adapter.reserve?.(services, lane, place)) ?? null
    await pacing.wait(paced, () => stopping.signal.aborted, reserve)
  }

  const stopHearing = services.endpointChanges.onAny((announced) => {
    const heard = announced === null ? undefined : adapter.heard?.(announced)
    if (heard !== undefined) void signal(heard.lane, heard.signal)
  })

  return {
    queue,

    hold(lane, bytes) {
      if (stopping.signal.aborted || recorder.isBehind || !slots.takeIdle(lane, bytes)) return undefined
      const { promise, resolve } = Promise.withResolvers<void>()
      const held = promise.finally(() => running.delete(held))
      running.add(held)
      return {
        begin(send) {
          begin(lane, send)
          resolve()
        },
        release() {
          slots.release(lane, bytes, null)
          resolve()
        },
      }
    },

    async run(job) {
      const named = queue.payload.parse(job)
      if (jobs.isDone(named)) return
      const lane = { id: named.laneId, workspaceId: named.workspaceId }
      const seenSince = clock.now().getTime()
      const looked = signal(lane, 'change').then(() => true)
      const isSeen = () => jobs.isDone({ ...named, seenSince })
      let isDone = (await within(looked, JOB_WAIT_MS)) ?? isSeen()
      if (!isDone && watches.get(lane.id)?.hasSlots === true)
        isDone = (await within(looked, JOB_LOOK_MS)) ?? isSeen()
      if (isDone && !stopping.signal.aborted) return
      await db.transaction().execute((trx) => queueRecovery(services, trx, queue, [lane]))
    },

    async stop(timeoutMs) {
      stopping.abort()
      stopHearing()
      for (const { timer } of watches.values()) clearTimeout(timer)
      const until = performance.now() + timeoutMs
      await within(Promise.all([...watches.values()].map(({ looking }) => looking)), timeoutMs)
      // A slot that is held for a capture is followed by its send.
      while (running.size > 0 && performance.now() < until)
        await within(Promise.all(running), until - performance.now())
      cutOff.abort()
      await within(Promise.all(running), RECORD_MS_MIN)
      await within(recorder.isDone(), Math.max(RECORD_MS_MIN, until - performance.now()))
    },
  }
}

/** Whether a signal is at least as strong as the one that opens a lane. */
function opens(by: Signal, heard: Signal): boolean {
  return SIGNALS.indexOf(heard) >= SIGNALS.indexOf(by)
}
