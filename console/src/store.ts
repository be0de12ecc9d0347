/** An observable value, for `useSyncExternalStore`. */
export class Store<Value> {
  #value: Value
  readonly #listeners = new Set<() => void>()

  constructor(first: Value) {
    this.#value = first
  }

  readonly get = (): Value => this.#value

  /** Calls back after every change, until the returned function is called. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    if (this.#listeners.size === 1) this.watched()
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.unwatched()
    }
  }

  /** Sets the value and notifies the subscribers. */
  readonly set = (value: Value): void => {
    this.#value = value
    for (const listener of this.#listeners) listener()
  }

  /** Called when the first subscriber is added. */
  protected watched(): void {}

  /** Called when the last subscriber is removed. */
  protected unwatched(): void {}
}
