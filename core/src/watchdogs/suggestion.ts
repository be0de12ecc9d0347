import type { z } from 'zod'
import type { Context } from '../api/context.ts'
import type { EndpointRow } from '../endpoints/index.ts'
import { searchHistory } from '../requests/index.ts'
import { matchOf, parseMatchText } from './match.ts'
import { MAX_INTERVAL_SECONDS, type WatchdogSuggestion } from './schema.ts'

type Suggestion = z.input<typeof WatchdogSuggestion>

/** Shortest suggested interval. */
const MIN_SUGGESTED_SECONDS = 60
/** Matching captures that a suggestion uses: 500 gaps. */
const SUGGESTION_CAPTURES = 501

const MIN_GAPS = 10
const MIN_SPAN_SECONDS = 600
/** Shorter gaps are part of a burst, which counts as one capture. */
const BURST_SECONDS = 1
const ROUND_INTERVALS = [60, 120, 300, 600, 900, 1800, 3600]
const HOUR = 3600
const DAY = 86_400

/**
 * Suggests an interval and a grace from the times of matching captures.
 *
 * @param times of the newest matching captures; those of imported ones may be in any order
 * @param isComplete false: there may be more that were not found in time
 */
export function suggestFrom(times: readonly Date[], isComplete = true): Suggestion {
  const receivedAt = times.toSorted((a, b) => b.getTime() - a.getTime())
  const gaps = receivedAt
    .map((time, index) => ((receivedAt[index - 1] ?? time).getTime() - time.getTime()) / 1000)
    .filter((gap) => gap >= BURST_SECONDS)
    .sort((a, b) => a - b)

  const newest = receivedAt[0]
  const oldest = receivedAt.at(-1)
  const facts = { samples: receivedAt.length, newestAt: newest ?? null, oldestAt: oldest ?? null }
  const p90 = gaps[Math.ceil(0.9 * gaps.length) - 1]
  const longest = gaps.at(-1)
  const time = isComplete ? '' : ' The time was up before all captures were looked through.'
  if (gaps.length < MIN_GAPS || !newest || !oldest || p90 === undefined || longest === undefined)
    return {
      ...UNAVAILABLE,
      ...facts,
      reason: `At least ${MIN_GAPS} gaps of ${BURST_SECONDS} s or longer between matching captures are needed; there are ${gaps.length}.${time}`,
    }
  if (newest.getTime() - oldest.getTime() < MIN_SPAN_SECONDS * 1000)
    return { ...UNAVAILABLE, ...facts, reason: `The matching captures span less than 10 minutes.${time}` }

  const expectedIntervalSeconds = roundUpInterval(p90)
  return {
    available: true,
    reason: null,
    ...facts,
    expectedIntervalSeconds,
    graceSeconds: graceFor(expectedIntervalSeconds, longest),
    observedP90Seconds: Math.ceil(p90),
  }
}

/** The answer for too little history; it still has the facts that were found. */
const UNAVAILABLE = {
  available: false,
  expectedIntervalSeconds: null,
  graceSeconds: null,
  observedP90Seconds: null,
} as const

/** Rounds up to a usual interval: 1-2-5 minutes…, then whole hours, then whole days. */
function roundUpInterval(seconds: number): number {
  const step = seconds <= DAY ? HOUR : DAY
  const rounded = ROUND_INTERVALS.find((round) => seconds <= round) ?? Math.ceil(seconds / step) * step
  return Math.min(Math.max(rounded, MIN_SUGGESTED_SECONDS), MAX_INTERVAL_SECONDS)
}

/** A fifth of the interval, or the overshoot of the longest gap; between a minute and the whole interval. */
function graceFor(intervalSeconds: number, longestGapSeconds: number): number {
  const overshoot = Math.ceil((longestGapSeconds - intervalSeconds) / 60) * 60
  return Math.min(Math.max(Math.ceil(intervalSeconds / 5), overshoot, 60), intervalSeconds)
}

/**
 * Suggests interval and grace from the times of the newest stored captures that match.
 *
 * @param match JSON text; undefined matches every capture
 * @throws LineTooLong as `searchHistory` does
 */
export async function suggestWatchdog(
  ctx: Context,
  endpoint: EndpointRow,
  match: string | undefined,
): Promise<Suggestion> {
  const condition = matchOf(parseMatchText(match))
  const { matches, isComplete } = await searchHistory(ctx, endpoint.id, condition, {
    limit: SUGGESTION_CAPTURES,
  })
  return suggestFrom(
    matches.map(({ receivedAt }) => receivedAt),
    isComplete,
  )
}
