import { closeIncidents, closeIncidentsSilently, openIncident } from '../alerts/index.ts'
import type { Services } from '../api/services.ts'
import type { Trx } from '../platform/db/index.ts'
import type { WatchdogRow } from './queries.ts'
import type { WatchdogClock, WatchdogEvent } from './rules.ts'
import { contactIdsOf } from './view.ts'

/** The services that alerts of a watchdog need. */
export type TellServices = Pick<Services, 'clock' | 'enqueue'>

/**
 * Raises the alerts of a step, in the transaction that stores the step: one alarm and one recovery per outage, to the
 * channels and to the watchdog's own contacts.
 *
 * @param clock the value after the step
 */
export async function tell(
  services: TellServices,
  trx: Trx,
  { row, clock, event }: { row: WatchdogRow; clock: WatchdogClock; event: WatchdogEvent | null },
): Promise<void> {
  const incident = { kind: 'watchdog.alarmed', subjectIds: [row.id] } as const
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
        ...incident,
        contactIds,
        ...(clock.lastMatchedRequestId === null ? {} : { requestId: clock.lastMatchedRequestId }),
      })
      return
    case 'silenced':
      await closeIncidentsSilently(services, trx, incident)
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
