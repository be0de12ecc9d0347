import { type Change, changeOf } from '../audit/index.ts'
import { shownJson } from '../engine/json/index.ts'
import type { WatchdogRow } from './queries.ts'
import { contactIdsOf } from './view.ts'

/** What the audit log tells of a change of a watchdog: its settings, not what its clock says. */
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
