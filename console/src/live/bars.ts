import { FAILED_STATES } from '@creel/core/engine/words'
import { Store } from '../store.ts'
import type { WorkspaceEvent } from './workspaceFeed.ts'

/** Number of captures within five seconds. */
export interface Bar {
  /** Number of the five-second interval since 1970. */
  readonly at: number
  readonly good: number
  readonly bad: number
}

/** Duration of one bar. */
export const BAR_MS = 5_000
/** Five minutes. */
export const BARS = 60

const BAD = new Set<string>(FAILED_STATES)

/** Adds captures to the bars; newest first. */
export function counted(
  bars: readonly Bar[],
  fresh: readonly { readonly receivedAt: string; readonly state: string }[],
): readonly Bar[] {
  const byTime = new Map(bars.map((bar) => [bar.at, bar]))
  for (const { receivedAt, state } of fresh) {
    const at = Math.floor(Date.parse(receivedAt) / BAR_MS)
    const { good, bad } = byTime.get(at) ?? { good: 0, bad: 0 }
    byTime.set(at, BAD.has(state) ? { at, good, bad: bad + 1 } : { at, good: good + 1, bad })
  }
  return [...byTime.values()].sort((left, right) => right.at - left.at).slice(0, BARS)
}

/** Captures that were refused for the rate, by bar. */
export type RejectedBars = ReadonlyMap<number, number>

/** The bars, newest first. Up to `oldestAt` they are replaced by the service's counts (oldest first). */
export function continued(bars: readonly Bar[], before: readonly Bar[], oldestAt: number): readonly Bar[] {
  const earlier = before.filter(({ at, bad, good }) => at <= oldestAt && good + bad > 0).toReversed()
  if (earlier.length === 0) return bars
  return [...bars.filter(({ at }) => at > oldestAt), ...earlier].slice(0, BARS)
}

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
