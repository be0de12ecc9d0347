/** A value that parts of the page watch: made for `useSyncExternalStore`. */
export class Store<Value> {
  #value: Value
  readonly #listeners = new Set<() => void>()

  constructor(first: Value) {
    this.#value = first
  }

  /** The value as it stands. */
  readonly get = (): Value => this.#value

  /** Calls back after every change, until the answer is called. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    if (this.#listeners.size === 1) this.watched()
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.unwatched()
    }
  }

  /** Sets the value and tells all who watch. */
  readonly set = (value: Value): void => {
    this.#value = value
    for (const listener of this.#listeners) listener()
  }

  /** The first one watches. */
  protected watched(): void {}

  /** Nobody watches any more. */
  protected unwatched(): void {}
}
