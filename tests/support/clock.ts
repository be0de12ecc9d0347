import type { Clock } from '@creel/core'
import { TestClock as JobClock } from 'pg-boss'

/** How often the queue's clock follows. A job that is due may start so much later than it would. */
const FOLLOW_MILLISECONDS = 25
/**
 * The queue's clock is ahead by so much. Our inserts stamp jobs with the database's real time, and a job from the
 * queue's future would not be announced.
 */
const LEAD_MILLISECONDS = 100
/** Longer steps are jumps: timers that were passed fire once, as after a sleep, not once for every period. */
const JUMP_MILLISECONDS = 5_000

/**
 * The time of a service under test: it runs like the wall clock, and a test can move it forward. Core and the job queue
 * (its timers and its SQL) go by it alike.
 */
export class TestClock implements Clock {
  readonly jobs: JobClock
  #aheadMs = 0
  #moment: Date | undefined
  #following: Promise<void> = Promise.resolve()
  readonly #timer: ReturnType<typeof setInterval>

  constructor() {
    this.jobs = new JobClock(Date.now())
    // Where a test has taken the database away, the queue's time stands still.
    this.#timer = setInterval(() => void this.#follow().catch(() => {}), FOLLOW_MILLISECONDS)
    this.#timer.unref()
  }

  now(): Date {
    return this.#moment ?? this.#running()
  }

  /** Runs `during` at a moment, however long ago, at which the time stands still. The queue does not notice. */
  async at<Result>(moment: Date, during: () => Promise<Result>): Promise<Result> {
    this.#moment = moment
    try {
      return await during()
    } finally {
      this.#moment = undefined
    }
  }

  #running(): Date {
    return new Date(Date.now() + this.#aheadMs)
  }

  /** Moves the time on. Resolves when the queue has noticed; what that sets off is under way then, not finished. */
  async advance(milliseconds: number): Promise<void> {
    this.#aheadMs += milliseconds
    await this.#follow()
  }

  /** Before the queue is stopped: it no longer takes the time. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    // What failed while the database was away is over.
    await this.#following.catch(() => {})
  }

  #follow(): Promise<void> {
    const step = async () => {
      const target = () => this.#running().getTime() + LEAD_MILLISECONDS
      const behind = target() - this.jobs.now()
      if (behind <= 0) return
      if (behind > JUMP_MILLISECONDS) await this.jobs.setTime(target())
      await this.jobs.tick(Math.max(0, target() - this.jobs.now()))
    }
    this.#following = this.#following.then(step, step)
    return this.#following
  }
}
