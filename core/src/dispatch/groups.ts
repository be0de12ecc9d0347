import type { LaneWithSlots, Look, Send } from './adapter.ts'

/** The most lanes of one group. */
const LANES_MAX = 32
/** The most lanes that are remembered as those to look at alone. One that was forgotten is left out of a group again. */
const ALONE_MAX = 10_000
/** Groups that are looked at at the same time. Lanes of a further one wait, so a busy process has larger groups. */
const GROUPS_MAX = 4

interface Asking<One extends Send> {
  readonly lane: LaneWithSlots
  readonly answer: PromiseWithResolvers<Look<One> | undefined>
}

/** Looks at lanes in groups: many lanes with a send or two each take as many statements as one. */
export class LaneGroups<One extends Send> {
  readonly #lookAt: (lanes: readonly LaneWithSlots[]) => Promise<ReadonlyMap<string, Look<One>>>
  readonly #waiting: Asking<One>[] = []
  readonly #alone = new Set<string>()
  #running = 0

  /** @param lookAt looks at lanes, by id. A lane without a result is to be looked at alone. An error goes to each lane */
  constructor(lookAt: (lanes: readonly LaneWithSlots[]) => Promise<ReadonlyMap<string, Look<One>>>) {
    this.#lookAt = lookAt
  }

  /**
   * Looks at a lane, together with others that are to be looked at now.
   *
   * @returns undefined if it is to be looked at alone, from then on without a statement, until {@link admit}
   */
  async look(lane: LaneWithSlots): Promise<Look<One> | undefined> {
    if (this.#alone.has(lane.id)) return undefined
    const answer = Promise.withResolvers<Look<One> | undefined>()
    this.#waiting.push({ lane, answer })
    if (this.#running < GROUPS_MAX) void this.#run()
    return await answer.promise
  }

  /** Lets a lane that was looked at alone be part of groups again. */
  admit(laneId: string): void {
    this.#alone.delete(laneId)
  }

  async #run(): Promise<void> {
    this.#running += 1
    // Lanes of the same turn of the event loop are one group.
    await Promise.resolve()
    for (;;) {
      const group = this.#waiting.splice(0, LANES_MAX)
      if (group.length === 0) break
      try {
        const looks = await this.#lookAt(group.map(({ lane }) => lane))
        for (const { lane, answer } of group) {
          const look = looks.get(lane.id)
          if (look === undefined) this.#keepAlone(lane.id)
          answer.resolve(look)
        }
      } catch (error) {
        for (const { answer } of group) answer.reject(error)
      }
    }
    this.#running -= 1
  }

  #keepAlone(laneId: string): void {
    if (this.#alone.size >= ALONE_MAX) this.#alone.clear()
    this.#alone.add(laneId)
  }
}
