import type { Clock } from '@creel/core'
import { JobClock } from './jobClock.ts'
import { administer } from './templateDatabase.ts'

/** A time that every retention keeps: what is older goes at the next sweep. */
export const anHourAgo = (): string => new Date(Date.now() - 3_600_000).toISOString()

/**
 * The clock of a service under test. It runs like the wall clock, and a test can move it forward. Core and the job
 * queue (its timers and its SQL) use it.
 */
export class TestClock implements Clock {
  readonly jobs = new JobClock(() => this.#aheadMs)
  #aheadMs = 0
  #moment: Date | undefined
  /** Databases whose queues use this clock, with the number of services. */
  readonly #databases = new Map<string, number>()
  #setting: Promise<void> = Promise.resolve()

  now(): Date {
    return this.#moment ?? new Date(Date.now() + this.#aheadMs)
  }

  /** Runs `during` with the clock stopped at a moment, however long ago. It does not affect the queue. */
  async at<Result>(moment: Date, during: () => Promise<Result>): Promise<Result> {
    this.#moment = moment
    try {
      return await during()
    } finally {
      this.#moment = undefined
    }
  }

  /** Moves the clock forward. Resolves when the queue has started the jobs that are due, before they have ended. */
  async advance(milliseconds: number): Promise<void> {
    this.#aheadMs += milliseconds
    for (const url of this.#databases.keys()) await this.#set(url, this.#aheadMs)
    this.jobs.catchUp()
  }

  /** Makes the queue of a migrated database use this clock, until {@link leave} was called as often. */
  async enter(url: string): Promise<void> {
    const services = this.#databases.get(url) ?? 0
    this.#databases.set(url, services + 1)
    if (services === 0 && this.#aheadMs > 0) await this.#set(url, this.#aheadMs)
  }

  /** Restores real time, since another service may use the database later. */
  async leave(url: string): Promise<void> {
    const services = (this.#databases.get(url) ?? 1) - 1
    if (services > 0) this.#databases.set(url, services)
    else {
      this.#databases.delete(url)
      if (this.#aheadMs > 0) await this.#set(url, 0)
    }
  }

  /** Sets the present of pg-boss's SQL. Calls run one after the other, since two at once would conflict. */
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
