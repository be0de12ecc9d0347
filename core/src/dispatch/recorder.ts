import { setTimeout as sleep } from 'node:timers/promises'
import type { Services } from '../api/services.ts'
import { isRefusedForGood } from '../platform/db/index.ts'

/** The most results that one transaction records. */
const BATCH = 200
/** Unrecorded results beyond which no further sends should begin: each may hold 256 KB of an answer. */
const UNRECORDED_MAX = 512
/** Delay before a retry while the database is unreachable. */
const RETRY_MS = 500

/** How the results of one kind of sends are recorded. */
export interface Recording<Result> {
  /** Records a batch in one transaction, all or nothing. */
  record(results: readonly Result[]): Promise<void>
  /** Milliseconds for which recording a result may be retried: the rest of its lease. */
  leftMs(result: Result): number
  idsOf(result: Result): Readonly<Record<string, unknown>>
}

/**
 * Records results in batches. Results that arrive while a batch is being written form the next one, so a single result
 * is not delayed and many share a commit. A batch that PostgreSQL refuses for its content is divided until the refused
 * result is alone. This result is dropped, and so is a result whose lease ends before it can be written. Both sends then
 * count as interrupted.
 */
export class Recorder<Result> {
  readonly #log: Services['log']
  readonly #recording: Recording<Result>
  #unrecorded: Result[] = []
  #writing: Promise<void> | null = null
  #written = Promise.withResolvers<void>()

  constructor({ log }: Pick<Services, 'log'>, recording: Recording<Result>) {
    this.#log = log
    this.#recording = recording
  }

  record(result: Result): void {
    this.#unrecorded.push(result)
    this.#writing ??= this.#writeAll()
  }

  /** Whether too many results are unrecorded for further sends to begin. */
  get isBehind(): boolean {
    return this.#unrecorded.length >= UNRECORDED_MAX
  }

  /** Resolves when the unrecorded results are below the limit, at once if they are. */
  async hasRoom(): Promise<void> {
    while (this.isBehind) await this.#written.promise
  }

  /** Resolves when all results queued so far are recorded. */
  async isDone(): Promise<void> {
    await this.#writing
  }

  async #writeAll(): Promise<void> {
    // Waits one turn of the event loop, so that sends which end together are written together.
    await new Promise((resolve) => setImmediate(resolve))
    while (this.#unrecorded.length > 0) {
      const batch = this.#unrecorded.slice(0, BATCH)
      await this.#write(batch)
      this.#unrecorded = this.#unrecorded.slice(batch.length)
      this.#written.resolve()
      this.#written = Promise.withResolvers()
    }
    this.#writing = null
  }

  async #write(batch: readonly Result[]): Promise<void> {
    const giveUpAt = performance.now() + Math.max(...batch.map((one) => this.#recording.leftMs(one)))
    do {
      try {
        await this.#recording.record(batch)
        return
      } catch (err) {
        const isRefused = isRefusedForGood(err)
        if (isRefused && batch.length > 1) {
          const middle = Math.ceil(batch.length / 2)
          await this.#write(batch.slice(0, middle))
          await this.#write(batch.slice(middle))
          return
        }
        const [only] = batch.length === 1 ? batch : []
        const ids = only === undefined ? { results: batch.length } : this.#recording.idsOf(only)
        this.#log.error(
          { err, ...ids },
          isRefused ? 'dropped a result that cannot be recorded' : 'could not record results',
        )
        if (isRefused) return
        await sleep(RETRY_MS)
      }
    } while (performance.now() < giveUpAt)
    const sends = batch.map((one) => this.#recording.idsOf(one))
    this.#log.error({ sends }, 'dropped results that could not be recorded before their leases ended')
  }
}
