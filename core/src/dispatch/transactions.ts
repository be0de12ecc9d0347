import type { Services } from '../api/services.ts'
import { isPassing, type Trx } from '../platform/db/index.ts'
import type { Adapter, Ended, LaneWithSlots, Look, Outcome, Send } from './adapter.ts'
import { LaneGroups } from './groups.ts'
import { type DueLane, LaneJobs } from './jobs.ts'
import { laneLooks } from './metrics.ts'
import type { Pacing } from './pacing.ts'
import type { Lane } from './slots.ts'

/** Claims and records the sends of one kind. Each transaction queues the jobs of the lanes that it leaves with work. */
export class LaneTransactions<One extends Send, Result extends Outcome> {
  readonly jobs: LaneJobs
  readonly #services: Services
  readonly #adapter: Adapter<One, Result>
  readonly #pacing: Pacing
  readonly #groups: LaneGroups<One> | undefined

  constructor(services: Services, adapter: Adapter<One, Result>, pacing: Pacing) {
    this.#services = services
    this.#adapter = adapter
    this.#pacing = pacing
    this.jobs = new LaneJobs(adapter.queue)
    if (adapter.lookTogether !== undefined)
      this.#groups = new LaneGroups((lanes) => this.#claimTogether(lanes))
  }

  /**
   * Claims sends of a lane, together with those of other lanes if that is possible.
   *
   * @param most sends that may be claimed
   */
  async claim(lane: Lane, most: number): Promise<Look<One>> {
    const begunAt = this.#services.clock.now()
    laneLooks.inc({ kind: this.#adapter.kind })
    const together = await this.#groups?.look({ ...lane, slots: most })
    const found = together ?? (await this.#claimAlone(lane, most))
    if (together === undefined && found.isAlone !== true) this.#groups?.admit(lane.id)
    this.jobs.looked(lane.id, begunAt)
    return found
  }

  /**
   * Records sends that have ended.
   *
   * @returns the lanes that may have work now, and when
   */
  async record(batch: readonly Ended<One, Result>[]): Promise<readonly DueLane[]> {
    const adapter = this.#adapter
    const dueAt = this.#services.clock.now()
    const freed = batch.filter((one) => adapter.frees?.(one) ?? true).map(({ lane }) => ({ ...lane, dueAt }))
    const haveJobs = this.jobs.missing(freed, dueAt).length === 0
    if (haveJobs && (await adapter.recordAlone?.(this.#services, batch)) === true) return freed
    return await this.#withJobs(async (trx) => {
      const left = await adapter.record(this.#services, trx, batch)
      return { value: left, left }
    })
  }

  /** Claims sends of a group of lanes. An error that may be the fault of one of them leads to looks at each alone. */
  async #claimTogether(lanes: readonly LaneWithSlots[]): Promise<ReadonlyMap<string, Look<One>>> {
    try {
      return await this.#withJobs(async (trx) => {
        const value =
          (await this.#adapter.lookTogether?.(this.#services, trx, lanes)) ?? new Map<string, Look<One>>()
        const left = lanes.flatMap((lane) => this.#leftOf(lane, value.get(lane.id)?.nextInMs ?? null))
        return { value, left }
      })
    } catch (err) {
      if (isPassing(err)) throw err
      return new Map()
    }
  }

  /**
   * Claims sends. If several cannot be read it claims one, and postpones it if it cannot, so that it blocks no other. An
   * error that has passed by the next look postpones nothing.
   */
  async #claimAlone(lane: Lane, most: number): Promise<Look<One>> {
    const begunAt = performance.now()
    try {
      const found = await this.#withJobs(async (trx) => {
        const room = { slots: most, leadMs: this.#pacing.leadMs }
        const value = await this.#adapter.look(this.#services, trx, lane, room)
        return { value, left: this.#leftOf(lane, value.nextInMs) }
      })
      if (found.clockAt !== undefined) this.#pacing.looked(performance.now() - begunAt, found.clockAt)
      return found
    } catch (err) {
      if (this.#adapter.postpone === undefined || isPassing(err)) throw err
      if (most > 1) return await this.#claimAlone(lane, 1)
      await this.#adapter.postpone(this.#services, lane)
      throw err
    }
  }

  #leftOf({ id, workspaceId }: Lane, nextInMs: number | null): readonly DueLane[] {
    if (nextInMs === null) return []
    return [{ id, workspaceId, dueAt: new Date(this.#services.clock.now().getTime() + nextInMs) }]
  }

  async #withJobs<Value>(
    work: (trx: Trx) => Promise<{ readonly value: Value; readonly left: readonly DueLane[] }>,
  ): Promise<Value> {
    const { db, clock } = this.#services
    const { value, missing } = await db.transaction().execute(async (trx) => {
      const done = await work(trx)
      const missing = this.jobs.missing(done.left, clock.now())
      await this.jobs.insert(this.#services, trx, missing)
      return { value: done.value, missing }
    })
    this.jobs.haveCommitted(missing)
    return value
  }
}
