import type { Clock } from '@creel/core'
import { JobClock } from './jobClock.ts'
import { administer } from './templateDatabase.ts'

/**
 * The time of a service under test: it runs like the wall clock, and a test can move it forward. Core and the job queue
 * (its timers and its SQL) go by it alike.
 */
export class TestClock implements Clock {
  readonly jobs = new JobClock(() => this.#aheadMs)
  #aheadMs = 0
  #moment: Date | undefined
  /** Whose queues go by this clock, by how many services. */
  readonly #databases = new Map<string, number>()
  #setting: Promise<void> = Promise.resolve()

  now(): Date {
    return this.#moment ?? new Date(Date.now() + this.#aheadMs)
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

  /** Moves the time on. Resolves when the queue has noticed; what that sets off is under way then, not finished. */
  async advance(milliseconds: number): Promise<void> {
    this.#aheadMs += milliseconds
    for (const url of this.#databases.keys()) await this.#set(url, this.#aheadMs)
    this.jobs.catchUp()
  }

  /** Has the queue of a migrated database go by this clock, until {@link leave} was called as often. */
  async enter(url: string): Promise<void> {
    const services = this.#databases.get(url) ?? 0
    this.#databases.set(url, services + 1)
    if (services === 0 && this.#aheadMs > 0) await this.#set(url, this.#aheadMs)
  }

  /** Puts real time back where another service may follow. */
  async leave(url: string): Promise<void> {
    const services = (this.#databases.get(url) ?? 1) - 1
    if (services > 0) this.#databases.set(url, services)
    else {
      this.#databases.delete(url)
      if (this.#aheadMs > 0) await this.#set(url, 0)
    }
  }

  /** What pg-boss's SQL takes for the present. One after the other: two at once would be in each other's way. */
  #set(url: string, aheadMs: number): Promise<void> {
    const set = () =>
      administer(
        url,
        `create or replace function pgboss.job_now() returns timestamptz language sql stable
         as 'select pg_catalog.now() + interval ''${aheadMs} milliseconds'''`,
      )
    this.#setting = this.#setting.then(set, set)
    return this.#setting
  }
}
