import { randomUUID } from 'node:crypto'

/**
 * The job of `deliveries.recover` that owns the attempts of one batch, as the process knows it that makes them: which of them are
 * still without a result.
 */
export class RecoveryJob {
  readonly id = randomUUID()
  readonly #open = new Set<number>()

  /** Puts an attempt under the job. To be called for the whole batch before the first of them begins. */
  own(attemptId: number): void {
    this.#open.add(attemptId)
  }

  /** Whether none is left once these attempts have ended, each given once. */
  isEndedBy(attempts: readonly unknown[]): boolean {
    return attempts.length === this.#open.size
  }

  /** Notes that the end of an attempt is committed. */
  ended({ id }: { readonly id: number }): void {
    this.#open.delete(id)
  }
}
