import { BAR_MS, BARS, type RejectedBars } from './bars.ts'
import { Store } from './store.ts'
import type { WorkspaceEvent } from './workspaceFeed.ts'

const NONE: RejectedBars = new Map()

/**
 * What was rejected while the page is open, by the five seconds in which that was heard of: the service sends one count for each
 * endpoint, and what lies between two counts came between them.
 */
export class Rejections extends Store<ReadonlyMap<string, RejectedBars>> {
  readonly #counts = new Map<string, number>()

  constructor() {
    super(new Map())
  }

  /** Takes the counts of an event that came at `now`, in milliseconds since 1970. */
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

  /** Of one endpoint; the same object until there are more. */
  of(endpointId: string): RejectedBars {
    return this.get().get(endpointId) ?? NONE
  }
}

/** What this page has heard of. */
export const rejections = new Rejections()
