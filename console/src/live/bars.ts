import { FAILED_STATES } from '@creel/core/engine/words'

/** Arrivals within five seconds. */
export interface Bar {
  /** Which five seconds, counted since 1970. */
  readonly at: number
  readonly good: number
  readonly bad: number
}

/** What a bar stands for. */
export const BAR_MS = 5_000
/** Five minutes. */
export const BARS = 60

const BAD = new Set<string>(FAILED_STATES)

/** The bars with these captures counted in, newest first. */
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

/** The bars, newest first, with what the service counted (oldest first) in place of those up to `oldestAt`. */
export function continued(bars: readonly Bar[], before: readonly Bar[], oldestAt: number): readonly Bar[] {
  const earlier = before.filter(({ at, bad, good }) => at <= oldestAt && good + bad > 0).toReversed()
  if (earlier.length === 0) return bars
  return [...bars.filter(({ at }) => at > oldestAt), ...earlier].slice(0, BARS)
}
