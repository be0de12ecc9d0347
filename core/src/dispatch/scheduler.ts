import type { Services } from '../api/services.ts'
import { within } from '../platform/time/index.ts'
import type { Adapter, Ended, Outcome, Send } from './adapter.ts'
import { type DueLane, type Lane, type LaneQueue, queueLanes, queueRecovery, SOON_MS } from './jobs.ts'
import { laneLooks, sendsInFlight } from './metrics.ts'
import { Recorder } from './recorder.ts'
import type { HeldSlot, Slots } from './slots.ts'

/** The most sends that one look claims. */
const LOOK_SENDS = 16
/** Delay before a look while the process is too busy for sends of this kind. */
const BUSY_MS = 400
/** Longest wait of a job for its look. */
const JOB_WAIT_MS = 250
/** Delay before a look after an error. */
const RETRY_MS = 1000
/** The last records may take as long as the sends, and at least this long. */
const RECORD_MS_MIN = 1000

/** The sends of one kind in this process. */
export interface RunningLanes {
  readonly queue: LaneQueue
  /**
   * Looks at the lane of a job. Resolves soon: if the look takes long, another one is queued, so that no job waits for
   * slots.
   *
   * @param job the payload as it was stored
   */
  run(job: unknown): Promise<void>
  /** Begins no further send, waits for those in flight and records them. Cuts them off after `timeoutMs`. */
  stop(timeoutMs: number): Promise<void>
}

interface Watch {
  /** Whether the lane has to be looked at again. */
  isHeard: boolean
  done: Promise<void>
}

/**
 * Starts the sends of one kind: a look claims what may start in a lane, each send ends on its own, and results are
 * recorded in batches. There is one look at a lane at a time in a process. The job of a lane leads to a look. Timers and
 * ends of sends lead to further ones sooner, but every time at which work is due has a job, so that another process
 * continues if this one dies.
 */
export function startLanes<One extends Send, Result extends Outcome>(
  services: Services,
  adapter: Adapter<One, Result>,
  slots: Slots,
): RunningLanes {
  const { kind, queue } = adapter
  const { log, db, clock } = services
  const watches = new Map<string, Watch>()
  const timers = new Map<string, ReturnType<typeof setTimeout>>()
  const running = new Set<Promise<void>>()
  const stopping = new AbortController()
  const cutOff = new AbortController()

  const recorder = new Recorder<Ended<One, Result>>(services, {
    leftMs: ({ send }) => send.leaseUntil.getTime() - clock.now().getTime(),
    idsOf: ({ lane }) => ({ kind, lane: lane.id }),
    async record(batch) {
      const due = await db.transaction().execute(async (trx) => {
        const left = await adapter.record(services, trx, batch)
        await queueLanes(services, trx, queue, left.filter(isLater))
        return left
      })
      for (const lane of due) if (!isLater(lane)) void signal(lane)
    },
  })

  const isLater = ({ dueAt }: DueLane) => dueAt > clock.now()

  /** @returns the end of the look, which does not fail */
  function signal(lane: Lane): Promise<void> {
    const known = watches.get(lane.id)
    if (known !== undefined) {
      known.isHeard = true
      return known.done
    }
    const watch: Watch = { isHeard: false, done: Promise.resolve() }
    watches.set(lane.id, watch)
    clearTimeout(timers.get(lane.id))
    timers.delete(lane.id)
    watch.done = lookUntilDone(lane, watch)
      .catch((err: unknown) => {
        log.error({ err, kind, lane: lane.id }, 'could not look at a lane')
        return RETRY_MS
      })
      .then((nextMs) => {
        watches.delete(lane.id)
        if (nextMs === null || nextMs > SOON_MS || stopping.signal.aborted) return
        const timer = setTimeout(() => {
          timers.delete(lane.id)
          void signal(lane)
        }, nextMs)
        timers.set(lane.id, timer)
      })
    return watch.done
  }

  /** @returns milliseconds until the next look; null if a signal leads to it */
  async function lookUntilDone(lane: Lane, watch: Watch): Promise<number | null> {
    for (;;) {
      watch.isHeard = false
      const most = adapter.room?.(LOOK_SENDS) ?? LOOK_SENDS
      if (most === 0) return BUSY_MS
      await recorder.hasRoom()
      const held = await slots.hold(lane, most, stopping.signal)
      if (held === 0) return null
      const nextMs = await look(lane, held)
      if (nextMs !== 0 && !watch.isHeard) return nextMs
    }
  }

  /** Claims sends for held slots and begins them. */
  async function look(lane: Lane, held: number): Promise<number | null> {
    let unused = held
    try {
      laneLooks.inc({ kind })
      const { sends, nextInMs } = await db.transaction().execute(async (trx) => {
        const found = await adapter.look(services, trx, lane, held)
        const ends = found.sends.map(({ leaseUntil }) => leaseUntil.getTime())
        if (found.nextInMs !== null) ends.push(clock.now().getTime() + found.nextInMs)
        if (ends.length > 0)
          await queueRecovery(services, trx, queue, { ...lane, dueAt: new Date(Math.min(...ends)) })
        return found
      })
      for (const send of sends) {
        unused -= 1
        slots.use(lane, send.bytes)
        const attempt = run(lane, send).finally(() => running.delete(attempt))
        running.add(attempt)
      }
      return nextInMs
    } finally {
      slots.giveBack(lane, unused)
    }
  }

  async function run(lane: Lane, send: One): Promise<void> {
    const startedAt = performance.now()
    let held: HeldSlot | null = null
    sendsInFlight.inc({ kind })
    try {
      const outcome = await adapter.send(services, send, cutOff.signal)
      const { answered } = outcome
      if (answered !== null) held = { durationMs: performance.now() - startedAt, answered }
      recorder.record({ lane, send, outcome })
    } catch (err) {
      // An error of our own fails one send only. It is due again when its lease ends.
      log.error({ err, kind, lane: lane.id }, 'could not make a send')
    } finally {
      sendsInFlight.dec({ kind })
      slots.release(lane, send.bytes, held)
    }
  }

  return {
    queue,

    async run(job) {
      const { laneId: id, workspaceId } = queue.payload.parse(job)
      const lane = { id, workspaceId }
      const isDone = await within(
        signal(lane).then(() => true),
        JOB_WAIT_MS,
      )
      if (isDone === true && !stopping.signal.aborted) return
      const again = { ...lane, dueAt: clock.now() }
      await db.transaction().execute((trx) => queueRecovery(services, trx, queue, again))
    },

    async stop(timeoutMs) {
      stopping.abort()
      for (const timer of timers.values()) clearTimeout(timer)
      const until = performance.now() + timeoutMs
      await within(Promise.all([...watches.values()].map(({ done }) => done)), timeoutMs)
      await within(Promise.all(running), until - performance.now())
      cutOff.abort()
      await within(Promise.all(running), RECORD_MS_MIN)
      await within(recorder.isDone(), Math.max(RECORD_MS_MIN, until - performance.now()))
    },
  }
}
