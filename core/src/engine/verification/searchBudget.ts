/** What an endpoint may use at once, and how fast it comes back. */
const BYTES_MAX = 8 * 1_048_576
const BYTES_PER_SECOND = 1_048_576

/**
 * How much hashing an endpoint's searches for causes may cost. A sender of bad signatures is evaluated all the same, but a
 * flood of them gets no explanations: it must not cost more than good captures do.
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
