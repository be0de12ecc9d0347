/** The most bytes of an endpoint at once, and the rate of refill. */
const BYTES_MAX = 8 * 1_048_576
const BYTES_PER_SECOND = 1_048_576

/**
 * Budget of an endpoint for hashing in searches for causes. Bad signatures are always checked, but a flood of them gets
 * no explanations: it must not cost more than good captures do.
 */
export class SearchBudget {
  #left = BYTES_MAX
  #refilledAt = 0

  /** The bytes that may be hashed now. */
  available(now: Date): number {
    const elapsed = now.getTime() - this.#refilledAt
    if (elapsed > 0) this.#left = Math.min(BYTES_MAX, this.#left + (elapsed / 1000) * BYTES_PER_SECOND)
    this.#refilledAt = now.getTime()
    return this.#left
  }

  spend(bytes: number): void {
    this.#left -= bytes
  }
}
