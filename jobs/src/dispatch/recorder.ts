import type { Services } from '@creel/core'
import { type Ended, LEASE_SECONDS, recordAttempts } from '@creel/core/deliveries'

/** The most tries that one transaction records. */
const BATCH = 200
/** How long the recorder waits before it tries again when the database is away. */
const RETRY_MS = 500

/**
 * Records ended tries in batches: those that end while a batch is being written form the next one, so a lone
 * try waits for nothing and many share a commit.
 */
export class Recorder {
  private waiting: { ended: Ended; done: () => void }[] = []
  private writing: Promise<void> | null = null

  constructor(private readonly services: Services) {}

  /** Resolves when the try is recorded, or its lease has passed so that another will be made. */
  record(ended: Ended): Promise<void> {
    return new Promise((done) => {
      this.waiting.push({ ended, done })
      this.writing ??= this.writeAll()
    })
  }

  private async writeAll(): Promise<void> {
    // One turn of the event loop: what ends together is written together.
    await new Promise((resolve) => setImmediate(resolve))
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0, BATCH)
      await this.write(batch.map(({ ended }) => ended))
      for (const { done } of batch) done()
    }
    this.writing = null
  }

  /** A result that cannot be written before the lease ends is dropped: the row will say Interrupted. */
  private async write(batch: Ended[]): Promise<void> {
    const giveUpAt = performance.now() + LEASE_SECONDS * 1000
    while (performance.now() < giveUpAt) {
      try {
        await recordAttempts(this.services, batch)
        return
      } catch (err) {
        this.services.log.error({ err, attempts: batch.length }, 'could not record attempts')
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      }
    }
  }
}
