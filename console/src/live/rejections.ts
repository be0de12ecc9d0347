import { BAR_MS, BARS, type RejectedBars } from './bars.ts'
import { Store } from './store.ts'
import type { WorkspaceEvent } from './workspaceFeed.ts'

const NONE: RejectedBars = new Map()

/**
 * Captures rejected while the page is open, by five-second bar. The service sends a running count for each endpoint;
 * the difference of two counts is added to the bar in which the second arrived.
 */
export class Rejections extends Store<ReadonlyMap<string, RejectedBars>> {
  readonly #counts = new Map<string, number>()

  constructor() {
    super(new Map())
  }

  /** Adds the counts of an event that arrived at `now`, in milliseconds since 1970. */
  hear({ endpoints }: Pick<WorkspaceEvent, 'endpoints'>, now: number): void {
    const at = Math.floor(now / BAR_MS)
    const bars = new Map(this.get())
    let isChanged = false
    for (const { id, rejectedCount } of endpoints) {
      const more = rejectedCount - (this.#counts.get(id) ?? rejectedCount)
      this.#counts.set(id, rejectedCount)
      if (more <= 0) continue
      const recent = [...(bars.get(id) ?? NONE)].filter(([other]) => other > at - BARS)
      bars.set(id, new Map([...recent, [at, more + (bars.get(id)?.get(at) ?? 0)]]))
      isChanged = true
    }
    if (isChanged) this.set(bars)
  }

  /** The rejections of one endpoint; the same object until they change. */
  of(endpointId: string): RejectedBars {
    return this.get().get(endpointId) ?? NONE
  }
}

export const rejections = new Rejections()
