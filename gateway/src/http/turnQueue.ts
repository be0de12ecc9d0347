/** A connection with more work than one turn of the event loop allows. */
export interface TurnTaker {
  takeTurn(): void
}

/**
 * Connections that wait for another turn of the event loop. One continues in each turn, in the order of arrival. In
 * between, the events of all other connections are handled.
 */
export class TurnQueue {
  #waiting: TurnTaker[] = []
  #isScheduled = false

  /** @param taker must not throw in its turn */
  push(taker: TurnTaker): void {
    this.#waiting.push(taker)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      const next = this.#waiting.shift()
      this.#schedule()
      next?.takeTurn()
    })
  }
}
