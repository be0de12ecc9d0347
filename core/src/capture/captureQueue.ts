import pg from 'pg'
import { UnsentError } from '../platform/db/index.ts'
import { type BatchServices, storeBatch } from './captureBatch.ts'
import { type CaptureConnection, keepConnection } from './captureConnection.ts'
import { type CaptureOutcome, STATEMENT_SECONDS_MAX } from './captureStatement.ts'
import type { EvaluatedCapture } from './evaluateCapture.ts'
import { PlainBatches } from './plainBatch.ts'

/** Postgres cannot store anything now; nothing was stored, as far as we know. */
export type Unavailable = { readonly state: 'unavailable' }

/** Collects captures into batches and commits them in order. */
export interface CaptureQueue {
  /**
   * Settles once the capture is committed, or refused for good. Never rejects.
   *
   * `unavailable` at once when too many wait already: back-pressure must reach the senders.
   */
  submit(capture: EvaluatedCapture): Promise<CaptureOutcome | Unavailable>
  /** Commits what waits; from now on every capture is `unavailable`. */
  close(): Promise<void>
}

const BATCH_CAPTURES_MAX = 256
const BATCH_BYTES_MAX = 16 * 1024 * 1024
/**
 * PostgreSQL gets a batch while it still works on the one before, once so many captures wait, and no fewer than this share of those
 * that it works on. Without it PostgreSQL would pause until we have read its answer, which may take as long as a batch. Smaller
 * batches would cost more than the pauses.
 */
const FOLLOWING_BATCH_MIN = 12
const FOLLOWING_BATCH_SHARE = 0.25
/** Their bytes are bounded by who reads them from the wire. */
const WAITING_CAPTURES_MAX = 8192
const ANSWER_SECONDS_MAX = STATEMENT_SECONDS_MAX + 5
/** After Postgres failed us, senders get the refusal at once for so long; then it is tried again. */
const PAUSE_MILLISECONDS = 250

interface Waiting {
  readonly capture: EvaluatedCapture
  readonly resolve: (outcome: CaptureOutcome | Unavailable) => void
}

const UNAVAILABLE: Unavailable = { state: 'unavailable' }

/**
 * Group commit: what arrives while a batch is being committed is the next batch, so the slower the disk, the larger the
 * batches. A capture that comes alone waits for no timer: it goes out in the same turn of the event loop.
 *
 * On one connection: two measured slower, and would only wait for each other's locks.
 */
export function createCaptureQueue(services: BatchServices, pool: pg.Pool): CaptureQueue {
  const { log } = services
  let waiting: Waiting[] = []
  const connection = keepConnection(pool, services)
  const plain = new PlainBatches()
  let pausedUntil = 0
  let isScheduled = false
  let closed = false
  /** How many captures each batch has that is being stored. */
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
          // First the next batch: it is stored while the senders of this one are answered.
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

  /** Sends a batch at once, where the connection is open. @returns what tells its senders what became of it */
  const store = async (batch: readonly Waiting[], mayRetry = true): Promise<() => void> => {
    let used = connection.peek()
    try {
      used ??= await connection.open()
      const outcomes = await inTime(used, (open) =>
        storeBatch(
          services,
          open,
          plain,
          batch.map(({ capture }) => capture),
        ),
      )
      return () => {
        for (const [index, { resolve }] of batch.entries()) resolve(outcomes[index] ?? UNAVAILABLE)
      }
    } catch (error) {
      if (isConflict(error) && mayRetry) return await store(batch, false)
      const isOfOneCapture = isRowError(error) || error instanceof UnsentError
      if (isOfOneCapture && batch.length > 1) {
        // One capture that Postgres cannot hold must not cost its neighbours theirs.
        const middle = batch.length >> 1
        const answers = [await store(batch.slice(0, middle)), await store(batch.slice(middle))]
        return () => {
          for (const answer of answers) answer()
        }
      }
      if (isOfOneCapture) log.error({ err: error }, 'a capture cannot be stored')
      else {
        if (used !== undefined) connection.drop(used, error)
        // PostgreSQL is not to blame for an error of ours: the next batch is stored on another connection at once.
        if (isProgramError(error)) log.error({ err: error }, 'a batch of captures could not be stored')
        else pausedUntil = performance.now() + PAUSE_MILLISECONDS
      }
      return () => refuse(batch)
    }
  }

  /** Dropping the connection ends what waits on it, also where the network swallows everything. */
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
 * The next batch from the front of the queue: bounded, and with no more captures of an endpoint than it may store,
 * since a statement cannot evict what it inserts.
 */
function nextBatch(waiting: readonly Waiting[]): { batch: Waiting[]; rest: Waiting[] } {
  const batch: Waiting[] = []
  const rest: Waiting[] = []
  const counts = new Map<string, number>()
  let bytes = 0
  for (const item of waiting) {
    const { settings, row } = item.capture
    const count = counts.get(settings.endpointId) ?? 0
    const isFull =
      batch.length >= BATCH_CAPTURES_MAX || (bytes > 0 && bytes + row.storageBytes > BATCH_BYTES_MAX)
    if (isFull || count >= Math.max(1, settings.storedRequestsMax)) {
      rest.push(item)
      continue
    }
    counts.set(settings.endpointId, count + 1)
    batch.push(item)
    bytes += row.storageBytes
  }
  return { batch, rest }
}

/** Whether this is an error of our code, and not of the connection. */
function isProgramError(error: unknown): boolean {
  return [TypeError, RangeError, ReferenceError, SyntaxError].some((kind) => error instanceof kind)
}

/** Whether Postgres gave way to another transaction: the same may work now (serialization failure, deadlock). */
function isConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^40/.test(error.code ?? '')
}

/** Whether Postgres refused the data itself (SQLSTATE classes 21, 22, 23, 54), so that trying again is no use. */
function isRowError(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(21|22|23|54)/.test(error.code ?? '')
}
