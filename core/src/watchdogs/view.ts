import type { z } from 'zod'
import { shownJson } from '../engine/json/index.ts'
import type { WatchdogRow } from './queries.ts'
import { deadlines, type Match, noticeMatch, type Outage, stateOf, type WatchdogClock } from './rules.ts'
import type { Watchdog } from './schema.ts'

export function clockOf(row: WatchdogRow): WatchdogClock {
  return row
}

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
  const { clock } = noticeMatch(clockOf(row), notedMatch(row))
  const times = deadlines(clock, outages)
  return {
    id: row.id,
    endpointId: row.endpointId,
    endpointName: row.endpointName,
    name: row.name,
    state: stateOf(clock, now, outages),
    active: clock.active,
    pausedByPlan: clock.pausedByPlan,
    match: objectOf(shownJson(row.match)),
    expectedIntervalSeconds: clock.expectedIntervalSeconds,
    graceSeconds: clock.graceSeconds,
    armedAt: clock.armedAt,
    lastMatchedAt: clock.lastMatchedAt,
    lastMatchedRequestId: clock.lastMatchedRequestId,
    dueAt: times?.dueAt ?? null,
    alarmAt: times?.alarmAt ?? null,
    alarmedAt: clock.alarmedAt,
    recoveredAt: clock.recoveredAt,
    lastAlertedAt: clock.lastAlertedAt,
    createdAt: row.createdAt,
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
