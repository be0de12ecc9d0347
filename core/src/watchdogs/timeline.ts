import type { Context } from '../api/context.ts'
import { storedCondition } from '../engine/conditions/index.ts'
import { DAY_MS } from '../platform/time/index.ts'
import { searchHistory } from '../requests/index.ts'
import { listAlarms, listOutages, type WatchdogRow } from './queries.ts'

/** Matches in one timeline, the newest. */
const TIMELINE_MATCHES_MAX = 500

/** A period; its end is exclusive. */
export interface Period {
  readonly from: Date
  readonly to: Date
}

const INTERVALS_SHOWN = 8
const SHORTEST_MS = 60_000
const LONGEST_MS = 62 * DAY_MS

/** The requested period: eight intervals up to now by default, limited to between a minute and 62 days. */
export function timelinePeriod(
  { expectedIntervalSeconds }: Pick<WatchdogRow, 'expectedIntervalSeconds'>,
  now: Date,
  { from, to = now }: { readonly from?: Date | undefined; readonly to?: Date | undefined },
): Period {
  const asked =
    from === undefined ? INTERVALS_SHOWN * expectedIntervalSeconds * 1000 : to.getTime() - from.getTime()
  const length = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, asked))
  return { from: new Date(to.getTime() - length), to }
}

/** History of a watchdog: its matches, its alarms, and outages of the gateways. */
export async function timelineOf(ctx: Context, watchdog: WatchdogRow, { from, to }: Period) {
  const { matches } = await searchHistory(ctx, watchdog.endpointId, storedCondition(watchdog.match), {
    limit: TIMELINE_MATCHES_MAX,
    since: from,
    until: to,
  })
  const alarms = await listAlarms(ctx.db, watchdog, { from, to })
  const outages = await listOutages(ctx.db)
  return {
    from,
    to,
    matches: matches.map(({ receivedAt, requestId }) => ({ requestId, at: receivedAt })).toReversed(),
    alarms,
    outages: outages
      .filter(({ beganAt, endedAt }) => beganAt < to && endedAt > from)
      .map(({ beganAt, endedAt }) => ({ from: beganAt, to: endedAt })),
  }
}
