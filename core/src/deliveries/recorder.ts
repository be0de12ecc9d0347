import { setTimeout as pause } from 'node:timers/promises'
import type { Services } from '../api/services.ts'
import { LEASE_SECONDS } from './attempt.ts'
import { type Ended, type PauseGone, recordAttempts } from './record.ts'

/** The most attempts that one transaction records. */
const BATCH = 200
/** Unrecorded attempts beyond which no further ones should begin: each may hold 256 KB of an answer. */
const UNRECORDED_MAX = 512
/** Delay before a retry while the database is unreachable. */
const RETRY_MS = 500

/**
 * Records ended attempts in batches. Attempts that end while a batch is being written form the next one, so a single
 * attempt is not delayed and many share a commit.
 */
export class Recorder {
  private unrecorded: Ended[] = []
  private writing: Promise<void> | null = null
  private written = Promise.withResolvers<void>()

  constructor(
    private readonly services: Services,
    private readonly pauseGone: PauseGone,
  ) {}

  /** Queues an attempt to be recorded. It is dropped if its lease ends before: then a retry follows. */
  record(ended: Ended): void {
    this.unrecorded.push(ended)
    this.writing ??= this.writeAll()
  }

  /** Whether too many attempts are unrecorded for further ones to begin. */
  get isBehind(): boolean {
    return this.unrecorded.length >= UNRECORDED_MAX
  }

  /** Resolves when the unrecorded attempts are below the limit, at once if they are. */
  async hasRoom(): Promise<void> {
    while (this.isBehind) await this.written.promise
  }

  /** Resolves when all attempts queued so far are recorded. */
  async isDone(): Promise<void> {
    await this.writing
  }

  private async writeAll(): Promise<void> {
    // Waits one turn of the event loop, so that attempts which end together are written together.
    await new Promise((resolve) => setImmediate(resolve))
    while (this.unrecorded.length > 0) {
      const batch = this.unrecorded.slice(0, BATCH)
      await this.write(batch)
      this.unrecorded = this.unrecorded.slice(batch.length)
      this.written.resolve()
      this.written = Promise.withResolvers()
    }
    this.writing = null
  }

  /** A result that cannot be written before the lease ends is dropped: the row will say Interrupted. */
  private async write(batch: Ended[]): Promise<void> {
    const leftMs = batch.map(
      ({ attempt, result }) => attempt.leaseUntil.getTime() - result.finishedAt.getTime(),
    )
    const giveUpAt = performance.now() + Math.max(LEASE_SECONDS * 1000, ...leftMs)
    while (performance.now() < giveUpAt) {
      try {
        await recordAttempts(this.services, batch, this.pauseGone)
        return
      } catch (err) {
        this.services.log.error({ err, attempts: batch.length }, 'could not record attempts')
        await pause(RETRY_MS)
      }
    }
  }
}
