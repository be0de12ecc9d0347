import type { Services } from '../api/services.ts'
import { type HeldSlot, Recorder, type SlotLane, type Slots, sendsInFlight } from '../dispatch/index.ts'
import { sleep } from '../platform/time/index.ts'
import { Turns } from '../platform/turns/index.ts'
import { type Attempt, LEASE_SECONDS } from './attempt.ts'
import type { DueAttempt } from './attemptJobs.ts'
import { claimForwards } from './claim.ts'
import { claimDeferred } from './claimDeferred.ts'
import type { FirstAttempts, SlotRequest } from './firstAttempts.ts'
import { postponeAttempts } from './openDeliveries.ts'
import { type Ended, type PauseGone, recordAttempts } from './record.ts'
import { sendAttempt } from './send.ts'

/** Longest wait of a batch for slots of destinations that answer. Then the rest of the batch is deferred. */
const WAIT_MS_MAX = 1000
/** The same when several batches wait already, so that workers are left for other destinations. */
const SHORT_WAIT_MS = 150
const WAITING_BATCHES_MAX = 2
const GATHER_MS = 2

/** The last records may take as long as the sends, and at least this long. */
const RECORD_MS_MIN = 1000
/** Delay until a delivery that could not be begun is looked at again. */
const UNREADABLE_MS = 60_000

/** The sending side of one process. */
export interface Dispatcher {
  /** Takes a batch of due attempts. Resolves when each has begun, is deferred, or had nothing to do. */
  begin(due: readonly DueAttempt[]): Promise<void>
  /** Makes first attempts that captures of this process have claimed, while few others wait. */
  readonly firstAttempts: FirstAttempts
  /** Waits for the attempts in flight, at most `timeoutMs`. Then it cuts the others off: they will be Interrupted. */
  drain(timeoutMs: number): Promise<void>
}

/** Settings of a dispatcher. */
export interface DispatcherOptions {
  readonly slots: Slots
  readonly pauseGone: PauseGone
}

/**
 * Starts the sending side: attempts begin as their jobs come, end when they end, and are recorded in batches. A
 * batch of jobs never waits for its slowest member, nor one destination for another.
 */
export function startDispatcher(services: Services, { slots, pauseGone }: DispatcherOptions): Dispatcher {
  // Attempts wait for a connection after they are claimed, so that the next one is sent as soon as an answer is
  // received, without a round trip to the database in between. The slots bound their number.
  const turns = new Turns({ atOnce: slots.limits.perLane })
  const recorder = new Recorder<Ended>(services, {
    record: (ended) => recordAttempts(services, ended, pauseGone),
    leftMs: ({ attempt, result }) =>
      Math.max(LEASE_SECONDS * 1000, attempt.leaseUntil.getTime() - result.finishedAt.getTime()),
    idsOf: ({ attempt }) => ({ attemptId: attempt.id, deliveryId: attempt.deliveryId }),
  })
  const stopping = new AbortController()
  let freed = Promise.withResolvers<void>()
  /** Slots that these attempts hold; lanes hold others. */
  let heldSlots = 0
  let waitingBatches = 0
  let isDraining = false

  const release = (due: SlotRequest, held: HeldSlot | null) => {
    heldSlots -= 1
    slots.release(laneOf(due), due.bodyBytes, held)
    freed.resolve()
    freed = Promise.withResolvers()
  }

  async function run(attempt: Attempt, due: SlotRequest): Promise<void> {
    let held: HeldSlot | null = null
    sendsInFlight.inc({ kind: 'delivery' })
    try {
      const result = await turns.run(due.actionId, () => sendAttempt(services, attempt, stopping.signal))
      // The attempt was cut off by the end of this process. It has no result, and its lease ends when the process
      // leaves.
      if (stopping.signal.aborted && result.received === null) return
      if (result.sent !== null) held = { durationMs: result.durationMs, answered: result.received !== null }
      recorder.record({ attempt, result })
    } catch (err) {
      // An error of our own fails one attempt only. It will be Interrupted.
      services.log.error({ err, attemptId: attempt.id }, 'could not send an attempt')
    } finally {
      sendsInFlight.dec({ kind: 'delivery' })
      release(due, held)
    }
  }

  async function start(due: readonly DueAttempt[]): Promise<void> {
    // An attempt may be in a batch twice, each with a slot, if one of its two jobs was retried.
    const unclaimed = new Set(due)
    const byDelivery = new Map(due.map((one) => [one.deliveryId, one]))
    const runAll = (attempts: readonly Attempt[]) => {
      for (const attempt of attempts) {
        const one = attempt.deliveryId === null ? undefined : byDelivery.get(attempt.deliveryId)
        if (one !== undefined && unclaimed.delete(one)) void run(attempt, one)
      }
    }
    try {
      const others: DueAttempt[] = []
      await oneByOneIfNeedBe(due, async (some) => {
        const claimed = await claimForwards(services, some)
        runAll(claimed.attempts)
        others.push(...claimed.others)
      })
      await oneByOneIfNeedBe(others, async (some) => runAll(await claimDeferred(services, some)))
    } finally {
      for (const one of unclaimed) release(one, null)
    }
  }

  /** Claims a batch. If that fails, claims one by one, so that a row that cannot be read blocks no other. */
  async function oneByOneIfNeedBe(
    due: readonly DueAttempt[],
    claim: (some: readonly DueAttempt[]) => Promise<void>,
  ): Promise<void> {
    try {
      await claim(due)
    } catch (err) {
      const [only, ...others] = due
      if (only === undefined) return
      if (others.length > 0) {
        for (const one of due) await oneByOneIfNeedBe([one], claim)
        return
      }
      services.log.error({ err, deliveryId: only.deliveryId }, 'could not start a delivery')
      await postponeAttempts(services, [{ due: only, afterMs: UNREADABLE_MS }])
    }
  }

  function sort(due: readonly DueAttempt[], mayWait: boolean) {
    const starting: DueAttempt[] = []
    const waiting: DueAttempt[] = []
    const defer: { due: DueAttempt; afterMs: number }[] = []
    for (const one of due) {
      const admission = slots.admit(laneOf(one), one.bodyBytes)
      if (admission === 'start') {
        heldSlots += 1
        starting.push(one)
      } else if (typeof admission === 'object') defer.push({ due: one, ...admission })
      else if (mayWait) waiting.push(one)
      else defer.push({ due: one, afterMs: slots.giveUp(laneOf(one)) })
    }
    return { starting, waiting, defer }
  }

  const firstAttempts: FirstAttempts = {
    hold(one) {
      if (isDraining || recorder.isBehind || !slots.admitAhead(laneOf(one), one.bodyBytes)) return undefined
      heldSlots += 1
      return {
        begin: (attempt) => void run(attempt, one),
        release: () => release(one, null),
      }
    },
    isSlow: (actionId) => slots.isSlow(actionId),
  }

  return {
    firstAttempts,

    async begin(due) {
      const startedAt = performance.now()
      let mayWait = false
      let left = due
      try {
        while (left.length > 0) {
          await recorder.hasRoom()
          const waitedMs = performance.now() - startedAt
          const { starting, waiting, defer } = sort(left, waitedMs < (mayWait ? WAIT_MS_MAX : SHORT_WAIT_MS))
          const soon = freed.promise
          if (starting.length > 0) await start(starting)
          if (defer.length > 0) await postponeAttempts(services, defer)
          left = waiting
          if (left.length === 0) return
          if (!mayWait && waitingBatches < WAITING_BATCHES_MAX) {
            mayWait = true
            waitingBatches++
          }
          await Promise.race([soon, sleep(SHORT_WAIT_MS)])
          // Slots that become free together share a claim.
          await sleep(GATHER_MS)
        }
      } finally {
        if (mayWait) waitingBatches--
      }
    },

    async drain(timeoutMs) {
      isDraining = true
      const until = performance.now() + timeoutMs
      while (heldSlots > 0 && performance.now() < until)
        await Promise.race([freed.promise, sleep(until - performance.now())])
      stopping.abort()
      await Promise.race([recorder.isDone(), sleep(Math.max(RECORD_MS_MIN, until - performance.now()))])
    },
  }
}

function laneOf({ actionId, workspaceId }: SlotRequest): SlotLane {
  return { id: actionId, workspaceId }
}
