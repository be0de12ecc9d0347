import { type Change, changeOf } from '../audit/index.ts'
import { shownJson } from '../engine/json/index.ts'
import type { WatchdogRow } from './queries.ts'
import { contactIdsOf } from './view.ts'

/** A watchdog's change for the audit log: its settings, without the state of its clock. */
export function watchdogChange(
  action: string,
  before: WatchdogRow | null,
  after: WatchdogRow | null,
): Change {
  return changeOf(['watchdog', action], before, after, settingsOf)
}

function settingsOf(row: WatchdogRow) {
  const { id, endpointId, name, active, pausedByPlan, expectedIntervalSeconds, graceSeconds } = row
  const match = shownJson(row.match)
  const alertContactIds = contactIdsOf(row)
  return {
    id,
    endpointId,
    name,
    active,
    pausedByPlan,
    expectedIntervalSeconds,
    graceSeconds,
    match,
    alertContactIds,
  }
}
