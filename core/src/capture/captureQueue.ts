import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { UnsentError, valuesOf } from '../platform/db/index.ts'
import type { DeliveryServices } from './batchDeliveries.ts'
import { storeBatch } from './captureBatch.ts'
import { type CaptureConnection, keepConnection } from './captureConnection.ts'
import { type CaptureOutcome, STATEMENT_SECONDS_MAX } from './captureStatement.ts'
import type { EvaluatedCapture } from './evaluateCapture.ts'

/** PostgreSQL cannot store anything now. Nothing is known to be stored. */
export type Unavailable = { readonly state: 'unavailable' }

/** Collects captures into batches and commits them in order. */
export interface CaptureQueue {
  /** Opens the connection, so that the first capture need not wait for it. An error is left to the first capture. */
  connect(): Promise<void>
  /**
   * Settles once the capture is committed or finally refused. Never rejects.
   *
   * If too many captures wait, the result is `unavailable` at once: back-pressure must reach the senders.
   */
  submit(capture: EvaluatedCapture): Promise<CaptureOutcome | Unavailable>
  /** Commits the waiting captures. Every later capture is `unavailable`. */
  close(): Promise<void>
}

const BATCH_CAPTURES_MAX = 256
const BATCH_BYTES_MAX = 16 * 1024 * 1024
/**
 * PostgreSQL is sent a batch while it still stores the one before, if at least this many captures wait, and at least
 * this share of those being stored. Otherwise PostgreSQL would be idle until we have read its answer, which may take as
 * long as a batch. Smaller batches would cost more than the idle time.
 */
const FOLLOWING_BATCH_MIN = 12
const FOLLOWING_BATCH_SHARE = 0.25
/** The most waiting captures. The gateway's budget for bodies bounds their bytes. */
const WAITING_CAPTURES_MAX = 8192
const ANSWER_SECONDS_MAX = STATEMENT_SECONDS_MAX + 5
/** After an error of PostgreSQL, captures are refused at once for this time. Then the next one is stored again. */
const PAUSE_MILLISECONDS = 250
/**
 * Looks for locked endpoints after a wait for a lock was too long, and the pause between them: a lock of another gateway's
 * batch is free again soon.
 */
const LOOKS = { max: 10, pauseMs: 20 } as const
/** Endpoints of `$1` whose counters are not locked. */
const FIND_FREE =
  'select endpoint_id from endpoint_counters where endpoint_id = any($1::uuid[]) for update skip locked'
/** Times that captures are stored again after a conflict, or without those of locked endpoints. */
const FURTHER_TRIES = 2

interface Waiting {
  readonly capture: EvaluatedCapture
  readonly resolve: (outcome: CaptureOutcome | Unavailable) => void
}

const UNAVAILABLE: Unavailable = { state: 'unavailable' }

/**
 * Group commit: captures that arrive while a batch is being committed form the next batch, so a slower disk leads to
 * larger batches. A single capture is not delayed by a timer: it is sent in the same turn of the event loop.
 *
 * It uses one connection: two measured slower, because they wait for each other's locks.
 */
export function createCaptureQueue(services: DeliveryServices, pool: pg.Pool): CaptureQueue {
  const { log } = services
  let waiting: Waiting[] = []
  const connection = keepConnection(pool, services)
  /** Endpoints that were locked for too long. They are asked about first, so that no other waits for them again. */
  const locked = new Set<string>()
  let pausedUntil = 0
  let isScheduled = false
  let closed = false
  /** Batches being stored, with their number of captures. */
  const storing = new Set<{ readonly captures: number }>()
  let stored = Promise.withResolvers<void>()

  const mayStore = () => {
    const [before] = storing
    if (before === undefined) return true
    if (storing.size > 1 || connection.peek()?.pipeline.mayFollow !== true) return false
    return waiting.length >= Math.max(FOLLOWING_BATCH_MIN, before.captures * FOLLOWING_BATCH_SHARE)
  }

  const advance = () => {
    while (waiting.length > 0 && mayStore()) {
      const { batch, rest } = nextBatch(waiting)
      waiting = rest
      const entry = { captures: batch.length }
      storing.add(entry)
      store(batch)
        .catch((error: unknown) => {
          log.error({ err: error }, 'a batch of captures was given up')
          return () => refuse(batch)
        })
        .then((answer) => {
          storing.delete(entry)
          // The next batch first: it is stored while the senders of this one are answered.
          advance()
          answer()
          stored.resolve()
          stored = Promise.withResolvers()
        })
        .catch((error: unknown) => {
          log.error({ err: error }, 'captures that waited for a batch were given up')
          refuse(waiting.splice(0))
        })
    }
  }

  const refuse = (batch: readonly Waiting[]) => {
    for (const { resolve } of batch) resolve(UNAVAILABLE)
  }

  /**
   * Stores a batch. It is sent at once if the connection is open.
   *
   * @returns a function that answers the senders of the batch
   */
  const store = async (batch: readonly Waiting[], triesLeft = FURTHER_TRIES): Promise<() => void> => {
    let used = connection.peek()
    try {
      used ??= await connection.open()
      const known = locked.size === 0 ? [] : endpointsOf(batch).filter((id) => locked.has(id))
      if (known.length > 0 && triesLeft === FURTHER_TRIES)
        return await storeFree(used, batch, known, triesLeft)
      const outcomes = await inTime(used, (open) => storeBatch(services, open, valuesOf(batch, 'capture')))
      return () => {
        for (const [index, { resolve }] of batch.entries()) resolve(outcomes[index] ?? UNAVAILABLE)
      }
    } catch (error) {
      if (isConflict(error) && triesLeft > 0) return await store(batch, triesLeft - 1)
      if (isLockTimeout(error) && used !== undefined) {
        log.warn({ err: error }, 'captures waited too long for a lock: senders to its endpoint get 503')
        if (triesLeft > 0) return await storeFree(used, batch, endpointsOf(batch), triesLeft)
        return () => refuse(batch)
      }
      const isOfOneCapture = isRowError(error) || error instanceof UnsentError
      if (isOfOneCapture && batch.length > 1) {
        // A capture that PostgreSQL cannot store must not fail the others of its batch.
        const middle = batch.length >> 1
        const answers = [await store(batch.slice(0, middle)), await store(batch.slice(middle))]
        return () => {
          for (const answer of answers) answer()
        }
      }
      if (isOfOneCapture) log.error({ err: error }, 'a capture cannot be stored')
      else {
        if (used !== undefined) connection.drop(used, error)
        // After an error of our own the next batch is stored on a new connection at once.
        if (isProgramError(error)) log.error({ err: error }, 'a batch of captures could not be stored')
        else pausedUntil = performance.now() + PAUSE_MILLISECONDS
      }
      return () => refuse(batch)
    }
  }

  /** Stores a batch without the captures of those of the endpoints `asked` that are locked. These are refused. */
  const storeFree = async (
    used: CaptureConnection,
    batch: readonly Waiting[],
    asked: readonly string[],
    triesLeft: number,
  ): Promise<() => void> => {
    const stuck = new Set(asked)
    try {
      for (let look = 1; stuck.size > 0 && look <= LOOKS.max; look += 1) {
        if (look > 1) await sleep(LOOKS.pauseMs)
        const { rows } = await inTime(used, ({ pipeline, client }) =>
          pipeline.exclusively(() => client.query<{ endpoint_id: string }>(FIND_FREE, [[...stuck]])),
        )
        for (const row of rows) stuck.delete(row.endpoint_id)
      }
    } catch (error) {
      connection.drop(used, error)
      return () => refuse(batch)
    }
    for (const id of asked) {
      if (stuck.has(id)) locked.add(id)
      else locked.delete(id)
    }
    const isStuck = ({ capture }: Waiting) => stuck.has(capture.settings.endpointId)
    const free = batch.filter((one) => !isStuck(one))
    const answer = free.length === 0 ? undefined : await store(free, triesLeft - 1)
    return () => {
      answer?.()
      refuse(batch.filter(isStuck))
    }
  }

  /** Bounds the time of work. Dropping the connection ends it, even if the network loses every packet. */
  const inTime = async <Result>(
    open: CaptureConnection,
    work: (open: CaptureConnection) => Promise<Result>,
  ): Promise<Result> => {
    const timer = setTimeout(
      () => connection.drop(open, new Error(`Postgres did not answer within ${ANSWER_SECONDS_MAX} s.`)),
      ANSWER_SECONDS_MAX * 1000,
    )
    try {
      return await work(open)
    } finally {
      clearTimeout(timer)
    }
  }

  const schedule = () => {
    if (isScheduled) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      advance()
    })
  }

  return {
    async connect() {
      await connection.open().catch((error: unknown) => {
        log.debug({ err: error }, 'the capture connection could not be opened ahead')
      })
    },
    submit(capture) {
      if (closed || waiting.length >= WAITING_CAPTURES_MAX || performance.now() < pausedUntil) {
        return Promise.resolve(UNAVAILABLE)
      }
      const { promise, resolve } = Promise.withResolvers<CaptureOutcome | Unavailable>()
      waiting.push({ capture, resolve })
      schedule()
      return promise
    },
    async close() {
      closed = true
      advance()
      while (storing.size > 0) await stored.promise
      connection.close()
    },
  }
}

/**
 * Takes the next batch from the front of the queue. It is bounded, and has no more captures of an endpoint than that
 * may store, because a statement cannot evict the rows that it inserts. Endpoints with `dedupe` have batches of their
 * own: their duplicates need the general statement, which costs more.
 */
function nextBatch(waiting: readonly Waiting[]): { batch: Waiting[]; rest: Waiting[] } {
  const batch: Waiting[] = []
  const rest: Waiting[] = []
  const counts = new Map<string, number>()
  let bytes = 0
  const claims = waiting[0]?.capture.settings.dedupe !== null
  for (const item of waiting) {
    const { settings, row, original } = item.capture
    const itemBytes = row.storageBytes + (original?.body.length ?? 0)
    if ((settings.dedupe !== null) !== claims) {
      rest.push(item)
      continue
    }
    const count = counts.get(settings.endpointId) ?? 0
    const isFull = batch.length >= BATCH_CAPTURES_MAX || (bytes > 0 && bytes + itemBytes > BATCH_BYTES_MAX)
    if (isFull || count >= Math.max(1, settings.storedRequestsMax)) {
      rest.push(item)
      continue
    }
    counts.set(settings.endpointId, count + 1)
    batch.push(item)
    bytes += itemBytes
  }
  return { batch, rest }
}

const endpointsOf = (batch: readonly Waiting[]): readonly string[] => [
  ...new Set(batch.map(({ capture }) => capture.settings.endpointId)),
]

/** Whether an error is of our code, and not of the connection. */
function isProgramError(error: unknown): boolean {
  return [TypeError, RangeError, ReferenceError, SyntaxError].some((kind) => error instanceof kind)
}

/**
 * Whether PostgreSQL aborted in favour of another transaction (serialization failure, deadlock), so that a retry may
 * succeed.
 */
function isConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^40/.test(error.code ?? '')
}

/** Whether a lock was not free in time (`lock_not_available`). Nothing was stored, and the connection is good. */
function isLockTimeout(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '55P03'
}

/** Whether PostgreSQL refused the data itself (SQLSTATE classes 21, 22, 23, 54), so that a retry would fail again. */
function isRowError(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(21|22|23|54)/.test(error.code ?? '')
}
