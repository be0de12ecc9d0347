import { FAILED_STATES } from '@creel/core/engine/words'

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
