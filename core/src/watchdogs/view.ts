import type { z } from 'zod'
import type { Context } from '../api/context.ts'
import { validationFailed } from '../api/errors.ts'
import { storedCondition } from '../engine/conditions/index.ts'
import { shownJson } from '../engine/json/index.ts'
import { DAY_MS } from '../platform/time/index.ts'
import { searchHistory } from '../requests/index.ts'
import { listAlarms, listOutages, type WatchdogRow } from './queries.ts'
import { deadlines, type Match, noticeMatch, type Outage, stateOf } from './rules.ts'
import type { Watchdog } from './schema.ts'

/** The last match that captures noted for the row's criteria. The row may include it already. */
export function notedMatch(row: WatchdogRow): Match | null {
  if (row.criteriaMatchedAt === null || row.criteriaRequestId === null) return null
  return { requestId: row.criteriaRequestId, receivedAt: row.criteriaMatchedAt }
}

/** The row in the API's format, with every match up to now. */
export function watchdogView(
  row: WatchdogRow,
  now: Date,
  outages: readonly Outage[],
): z.input<typeof Watchdog> {
  const { clock } = noticeMatch(row, notedMatch(row))
  const times = deadlines(clock, outages)
  return {
    ...row,
    ...clock,
    state: stateOf(clock, now, outages),
    match: objectOf(shownJson(row.match)),
    dueAt: times?.dueAt ?? null,
    alarmAt: times?.alarmAt ?? null,
    alertContactIds: contactIdsOf(row),
  }
}

/** The watchdog's own contacts. */
export function contactIdsOf(row: { readonly alertContactIds: string }): string[] {
  const ids: unknown = JSON.parse(row.alertContactIds)
  return Array.isArray(ids) ? ids.map(String) : []
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {}
}

/** Matches in one timeline, the newest. */
const TIMELINE_MATCHES_MAX = 500

/** A period; its end is exclusive. */
interface Period {
  readonly from: Date
  readonly to: Date
}

const INTERVALS_SHOWN = 8
const SHORTEST_MS = 60_000
const LONGEST_MS = 62 * DAY_MS

/**
 * The requested period: eight intervals up to now by default, limited to between a minute and 62 days.
 *
 * @throws DomainError `validation_failed` when the period begins after its end
 */
export function timelinePeriod(
  { expectedIntervalSeconds }: Pick<WatchdogRow, 'expectedIntervalSeconds'>,
  now: Date,
  { from, to = now }: { readonly from?: Date | undefined; readonly to?: Date | undefined },
): Period {
  if (from !== undefined && from > to) {
    const detail = `from must not be later than the end of the period, ${to.toISOString()}.`
    throw validationFailed([{ path: ['from'], code: 'out_of_range', detail }])
  }
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
