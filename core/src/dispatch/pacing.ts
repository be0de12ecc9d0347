import type { Clock } from '../api/services.ts'
import { restFor } from '../platform/time/index.ts'

/** The most milliseconds between a look and its first start. */
export const LEAD_MS_MAX = 1000
/** The shortest time between a look and the first start that it schedules. */
const LEAD_MS_MIN = 10
/**
 * The most milliseconds that a start under a rate may be late; later ones get a new time. The spacing of starts
 * includes this time, so that no window of the rate has one start too many.
 */
export const LATE_MS_MAX = 25
/** After this many samples a newer one of the clock difference replaces the best one. */
const CLOCK_SAMPLES = 64

/**
 * Place of a start: the place that was missed, the earliest time by the database's clock, and the time that it takes,
 * in milliseconds.
 */
export interface StartPlace {
  readonly missed: number
  readonly earliest: number
  readonly spacingMs: number
}

/** Start of a send in the pace of its lane. */
export interface PacedStart {
  /** Milliseconds of the database's clock. */
  readonly at: number
  readonly spacingMs: number
  /** Whether the start is under a rate: if it is late, it gets a new time. */
  readonly isStrict: boolean
}

/**
 * Makes sends start when they should, by the clock of the database, which all processes share. Each answer of the
 * database is late by its network delay, so the sample with the least difference is the best.
 */
export class Pacing {
  readonly #clock: Clock
  #differenceMs = Number.POSITIVE_INFINITY
  #age = 0
  #leadMs = LEAD_MS_MIN

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Time that the next look needs before its first start. */
  get leadMs(): number {
    return this.#leadMs
  }

  /** Counts a look that took `tookMs`, during which the clock of the database was at `clockAt`. */
  looked(tookMs: number, clockAt: number): void {
    this.#leadMs = Math.min(LEAD_MS_MAX, Math.max(LEAD_MS_MIN, 2 * tookMs, this.#leadMs * 0.9))
    const differenceMs = this.#clock.now().getTime() - clockAt
    this.#age += 1
    if (differenceMs > this.#differenceMs && this.#age < CLOCK_SAMPLES) return
    this.#differenceMs = differenceMs
    this.#age = 0
  }

  /**
   * Waits for a start. One that is too late gets a new place from `reserve`.
   *
   * @param isStopping whether the process stops: then it is not delayed any more
   */
  async wait(
    { at: first, spacingMs, isStrict }: PacedStart,
    isStopping: () => boolean,
    reserve: (place: StartPlace) => Promise<number | null>,
  ): Promise<void> {
    let at: number | null = first
    while (at !== null) {
      const waitMs = at - this.#shared()
      if (waitMs > 0) await restFor(waitMs)
      if (!isStrict || isStopping() || this.#shared() - at <= LATE_MS_MAX) return
      at = await reserve({ missed: at, earliest: this.#shared() + this.#leadMs, spacingMs })
    }
  }

  /** The database's clock now, as far as it is known. */
  #shared(): number {
    return this.#clock.now().getTime() - (Number.isFinite(this.#differenceMs) ? this.#differenceMs : 0)
  }
}
