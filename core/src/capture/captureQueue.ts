import pg from 'pg'
import { type BatchServices, storeBatch } from './captureBatch.ts'
import { keepConnection } from './captureConnection.ts'
import { type CaptureOutcome, STATEMENT_SECONDS_MAX } from './captureStatement.ts'
import type { EvaluatedCapture } from './evaluateCapture.ts'
import { PlainBatches } from './plainBatch.ts'

/** Postgres cannot store anything now; nothing was stored, as far as we know. */
export type Unavailable = { readonly state: 'unavailable' }

/** Collects captures into batches and commits one batch at a time. */
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
 * PostgreSQL gets such a batch before the captures of the one before are answered, and works meanwhile: a twentieth more captures at 16
 * connections, a tenth at 256, a fifth on a busy machine. Smaller ones are stored as soon as the answers are written, and their
 * senders would only wait longer.
 */
const LARGE_BATCH_MIN = 12
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
 * One flush at a time on one connection: two measured slower, and would only wait for each other's locks.
 */
export function createCaptureQueue(services: BatchServices, pool: pg.Pool): CaptureQueue {
  const { log } = services
  let waiting: Waiting[] = []
  const connection = keepConnection(pool, log)
  const plain = new PlainBatches()
  let pausedUntil = 0
  let flushing: Promise<void> | undefined
  let closed = false

  const flush = async () => {
    let answer = () => {}
    while (waiting.length > 0) {
      const { batch, rest } = nextBatch(waiting)
      waiting = rest
      const isLarge = batch.length >= LARGE_BATCH_MIN
      if (!isLarge) answer()
      const storing = store(batch)
      if (isLarge) answer()
      answer = await storing
    }
    answer()
  }

  /** Sends a batch at once, where the connection is open. @returns what tells its senders what became of it */
  const store = async (batch: readonly Waiting[], mayRetry = true): Promise<() => void> => {
    try {
      const open = connection.peek() ?? (await connection.open())
      const outcomes = await inTime(() =>
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
      if (isRowError(error) && batch.length > 1) {
        // One capture that Postgres cannot hold must not cost its neighbours theirs.
        const middle = batch.length >> 1
        const answers = [await store(batch.slice(0, middle)), await store(batch.slice(middle))]
        return () => {
          for (const answer of answers) answer()
        }
      }
      if (isRowError(error)) log.error({ err: error }, 'a capture cannot be stored')
      else {
        connection.drop(error)
        pausedUntil = performance.now() + PAUSE_MILLISECONDS
      }
      return () => {
        for (const { resolve } of batch) resolve(UNAVAILABLE)
      }
    }
  }

  /** Dropping the connection ends what waits on it, also where the network swallows everything. */
  const inTime = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const silence = new Error(`Postgres did not answer within ${ANSWER_SECONDS_MAX} s.`)
    const timer = setTimeout(() => connection.drop(silence), ANSWER_SECONDS_MAX * 1000)
    try {
      return await work()
    } finally {
      clearTimeout(timer)
    }
  }

  const schedule = () => {
    if (flushing !== undefined) return
    flushing = new Promise<void>((done) => {
      setImmediate(() => flush().finally(done))
    }).then(() => {
      flushing = undefined
      if (waiting.length > 0) schedule()
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
      while (flushing !== undefined) await flushing
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
      batch.length >= BATCH_CAPTURES_MAX || (bytes > 0 && bytes + row.body.length > BATCH_BYTES_MAX)
    if (isFull || count >= Math.max(1, settings.storedRequestsMax)) {
      rest.push(item)
      continue
    }
    counts.set(settings.endpointId, count + 1)
    batch.push(item)
    bytes += row.body.length
  }
  return { batch, rest }
}

/** Whether Postgres gave way to another transaction: the same may work now (serialization failure, deadlock). */
function isConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^40/.test(error.code ?? '')
}

/** Whether Postgres refused the data itself (SQLSTATE classes 21, 22, 23, 54), so that trying again is no use. */
function isRowError(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(21|22|23|54)/.test(error.code ?? '')
}
