import { closeIncidents, closeIncidentsSilently, openIncident } from '../alerts/index.ts'
import type { Services } from '../api/services.ts'
import { recordSuspensions } from '../audit/index.ts'
import type { Plan } from '../plans/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import type { Db, Trx } from '../platform/db/index.ts'
import {
  clockColumns,
  listOutages,
  lockWatchdogs,
  lockWatchdogsOfWorkspace,
  updateWatchdog,
  type WatchdogRow,
  type WatchdogSettings,
} from './queries.ts'
import {
  arrivedBaseline,
  type Match,
  noticeMatch,
  type Outage,
  type Step,
  setPaused,
  type WatchdogClock,
  type WatchdogEvent,
} from './rules.ts'
import { contactIdsOf, notedMatch } from './view.ts'

/** A change of a watchdog: its next step, and changed columns outside of the clock. */
export interface Change {
  readonly step: (clock: WatchdogClock, outages: readonly Outage[]) => Step
  readonly settings?: WatchdogSettings
  /** A match that is missing in the criteria's row. */
  readonly match?: Match | null
}

/**
 * Changes one watchdog: locks it, applies the matches up to now, makes the step, stores it and raises alerts. Every
 * change must use this function, so that none of the five is forgotten.
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

/** The same for a row that is already locked. */
export async function stepWatchdog(
  services: TellServices,
  trx: Trx,
  { row, change, outages }: { row: WatchdogRow; change: Change; outages: readonly Outage[] },
): Promise<void> {
  const noted = noticeMatch(row, notedMatch(row))
  await tell(services, trx, { row, ...noted })
  const rechecked = noticeMatch(noted.clock, change.match ?? null)
  await tell(services, trx, { row, ...rechecked })
  const next = change.step(rechecked.clock, outages)
  // The alarm has the watchdog's name after the change.
  const { name = row.name, alertContactIds = row.alertContactIds } = change.settings ?? {}
  await tell(services, trx, { row: { ...row, name, alertContactIds }, ...next })
  await updateWatchdog(trx, row.id, { ...clockColumns(next.clock, outages), ...change.settings })
}

/**
 * Pauses the watchdogs over the plan's limit and resumes those within it; the oldest stay active. The caller locks the
 * workspace's row.
 */
export async function applyWatchdogLimit(
  services: TellServices & Pick<Services, 'actor'>,
  trx: Trx,
  { workspaceId, plan }: { workspaceId: string; plan: Plan },
): Promise<void> {
  const now = services.clock.now()
  const rows = await lockWatchdogsOfWorkspace(trx, workspaceId, now)
  const outages = await listOutages(trx)
  for (const [rank, row] of rows.entries()) {
    const pausedByPlan = rank >= plan.limits.watchdogsMax
    if (pausedByPlan === row.pausedByPlan) continue
    const change: Change = { step: (clock) => setPaused(clock, { pausedByPlan }, now) }
    await stepWatchdog(services, trx, { row, change, outages })
    await announceEndpointChange(trx, row.endpointId)
    await recordSuspensions(trx, services, workspaceId, 'watchdog', [
      { id: row.id, name: row.name, endpointId: row.endpointId, suspendedByPlan: pausedByPlan },
    ])
  }
}

/** Keeps the deadlines of watchdogs that arrive from another cell, whose outages their credit is of. */
export async function keepDeadlines(
  services: TellServices,
  trx: Trx,
  { workspaceId, former }: { readonly workspaceId: string; readonly former: Db },
): Promise<void> {
  const [there, outages] = [await listOutages(former), await listOutages(trx)]
  if (there.length === 0 && outages.length === 0) return
  const arrived = (clock: WatchdogClock) => ({
    ...clock,
    baselineAt: arrivedBaseline(clock, there, outages),
  })
  for (const row of await lockWatchdogsOfWorkspace(trx, workspaceId, services.clock.now())) {
    const { clock } = noticeMatch(row, notedMatch(row))
    if (arrived(clock).baselineAt.getTime() === clock.baselineAt.getTime()) continue
    const change: Change = { step: (before) => ({ clock: arrived(before), event: null }) }
    await stepWatchdog(services, trx, { row, change, outages })
  }
}

/** The services that alerts of a watchdog need. */
type TellServices = Pick<Services, 'clock' | 'enqueue'>

/**
 * Raises the alerts of a step, in the transaction that stores the step: one alarm and one recovery per outage, to the
 * channels and to the watchdog's own contacts.
 *
 * @param clock the value after the step
 */
async function tell(
  services: TellServices,
  trx: Trx,
  { row, clock, event }: { row: WatchdogRow; clock: WatchdogClock; event: WatchdogEvent | null },
): Promise<void> {
  const contactIds = contactIdsOf(row)
  switch (event) {
    case null:
      return
    case 'alarmed':
      await openIncident(services, trx, {
        kind: 'watchdog.alarmed',
        workspaceId: row.workspaceId,
        subject: { id: row.id, name: row.name },
        endpoint: { id: row.endpointId, name: row.endpointName },
        requestId: clock.lastMatchedRequestId,
        reason: silence(clock),
        contactIds,
      })
      return
    case 'recovered':
      await closeIncidents(services, trx, {
        kind: 'watchdog.alarmed',
        subjectIds: [row.id],
        contactIds,
        ...(clock.lastMatchedRequestId === null ? {} : { requestId: clock.lastMatchedRequestId }),
      })
      return
    case 'silenced':
      await closeIncidentsSilently(services, trx, 'watchdog.alarmed', [row.id])
  }
}

function silence(clock: WatchdogClock): string {
  const since =
    clock.phase === 'alarmed' && clock.lastMatchedAt === null
      ? `since it was armed at ${clock.armedAt.toISOString()}`
      : `since ${clock.baselineAt.toISOString()}`
  const expected = `expected every ${duration(clock.expectedIntervalSeconds)}`
  const grace = clock.graceSeconds > 0 ? `, with ${duration(clock.graceSeconds)} of grace` : ''
  return `No matching capture ${since}; ${expected}${grace}.`
}

/** `1 h 30 min`: the two largest units that are not zero. */
function duration(seconds: number): string {
  const units: readonly (readonly [number, string])[] = [
    [86_400, 'd'],
    [3600, 'h'],
    [60, 'min'],
    [1, 's'],
  ]
  const parts: string[] = []
  let rest = seconds
  for (const [size, unit] of units) {
    const count = Math.floor(rest / size)
    rest %= size
    if (count > 0) parts.push(`${count} ${unit}`)
  }
  return parts.slice(0, 2).join(' ')
}
