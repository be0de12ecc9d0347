import { randomUUID } from 'node:crypto'

/**
 * The job of `deliveries.recover` that owns the attempts of one batch. The process that makes the attempts keeps here
 * which of them have no result yet.
 */
export class RecoveryJob {
  readonly id = randomUUID()
  readonly #open = new Set<number>()

  /** Puts an attempt under the job. Call it for the whole batch before the first attempt begins. */
  own(attemptId: number): void {
    this.#open.add(attemptId)
  }

  /** Whether these attempts are the last ones without a result. Each must be given once. */
  isEndedBy(attempts: readonly unknown[]): boolean {
    return attempts.length === this.#open.size
  }

  /** Removes an attempt from the job. Call it once the attempt's end is committed. */
  ended({ id }: { readonly id: number }): void {
    this.#open.delete(id)
  }
}
