import type { Trx } from '../platform/db/index.ts'
import {
  clockColumns,
  listOutages,
  lockWatchdogs,
  updateWatchdog,
  type WatchdogRow,
  type WatchdogSettings,
} from './queries.ts'
import { deadlines, type Match, noticeMatch, type Outage, type Step, type WatchdogClock } from './rules.ts'
import { type TellServices, tell } from './tell.ts'
import { clockOf, notedMatch } from './view.ts'

/** A change of a watchdog: its next step, and columns besides the clock's. */
export interface Change {
  readonly step: (clock: WatchdogClock, outages: readonly Outage[]) => Step
  readonly settings?: WatchdogSettings
  /** A match that the criteria's row does not know. */
  readonly match?: Match | null
}

/**
 * Changes one watchdog: locks it, takes the matches up to now into account, makes the step, stores it and tells
 * people. Every change goes through here, so that none can forget one of the five.
 *
 * @returns false when the watchdog is gone
 */
export async function changeWatchdog(
  services: TellServices,
  trx: Trx,
  id: string,
  change: Change,
): Promise<boolean> {
  const [row] = await lockWatchdogs(trx, [id], services.clock.now())
  if (row === undefined) return false
  await stepWatchdog(services, trx, { row, change, outages: await listOutages(trx) })
  return true
}

/** The same for a row that is locked already. */
export async function stepWatchdog(
  services: TellServices,
  trx: Trx,
  { row, change, outages }: { row: WatchdogRow; change: Change; outages: readonly Outage[] },
): Promise<void> {
  const noted = noticeMatch(clockOf(row), notedMatch(row))
  await tell(services, trx, { row, ...noted })
  const rechecked = noticeMatch(noted.clock, change.match ?? null)
  await tell(services, trx, { row, ...rechecked })
  const next = change.step(rechecked.clock, outages)
  // The alarm names the watchdog as the change leaves it.
  const { name = row.name, alertContactIds = row.alertContactIds } = change.settings ?? {}
  await tell(services, trx, { row: { ...row, name, alertContactIds }, ...next })
  const alarmAt = deadlines(next.clock, outages)?.alarmAt ?? null
  await updateWatchdog(trx, row.id, { ...clockColumns(next.clock, alarmAt), ...change.settings })
}
