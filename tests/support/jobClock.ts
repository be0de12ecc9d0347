import type { Clock } from 'pg-boss'

interface Timer {
  readonly run: () => void
  /** Period of an interval, in milliseconds. */
  readonly every?: number
  due: number
  handle: ReturnType<typeof setTimeout> | undefined
}

/** The longest delay of a system timer. */
const WAIT_MILLISECONDS_MAX = 2 ** 31 - 1

/** The clock of the job queue: system timers, and {@link catchUp} after the time has jumped. */
export class JobClock implements Clock {
  readonly #timers = new Set<Timer>()

  /** @param aheadMs returns its lead over the wall clock */
  constructor(readonly aheadMs: () => number) {}

  now(): number {
    return Date.now() + this.aheadMs()
  }

  setTimeout(run: () => void, milliseconds: number): Timer {
    return this.#start({ run, due: this.now() + milliseconds, handle: undefined })
  }

  setInterval(run: () => void, milliseconds: number): Timer {
    return this.#start({ run, every: milliseconds, due: this.now() + milliseconds, handle: undefined })
  }

  clearTimeout(timer: unknown): void {
    for (const known of this.#timers) {
      if (known !== timer) continue
      clearTimeout(known.handle)
      this.#timers.delete(known)
    }
  }

  clearInterval(timer: unknown): void {
    this.clearTimeout(timer)
  }

  /** Runs all due timers in order, each once, as after a sleep of the machine. */
  catchUp(): void {
    const now = this.now()
    const timers = [...this.#timers].sort((one, other) => one.due - other.due)
    for (const timer of timers) {
      clearTimeout(timer.handle)
      if (timer.due <= now) this.#fire(timer)
      else this.#arm(timer)
    }
  }

  #start(timer: Timer): Timer {
    this.#timers.add(timer)
    this.#arm(timer)
    return timer
  }

  #arm(timer: Timer): void {
    const wait = Math.min(WAIT_MILLISECONDS_MAX, Math.max(0, timer.due - this.now()))
    timer.handle = setTimeout(() => {
      if (timer.due > this.now()) this.#arm(timer)
      else this.#fire(timer)
    }, wait)
  }

  #fire(timer: Timer): void {
    // Another that ran just now may have cleared it.
    if (!this.#timers.has(timer)) return
    if (timer.every === undefined) this.#timers.delete(timer)
    else {
      timer.due = this.now() + timer.every
      this.#arm(timer)
    }
    timer.run()
  }
}
