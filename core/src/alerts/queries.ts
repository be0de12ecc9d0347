import { type Insertable, sql } from 'kysely'
import type { AlertsTable, IncidentsTable, Trx } from '../platform/db/index.ts'
import type { OpeningKind } from './events.ts'

/** The columns of an incident before it is written; a new one is always open. */
export type NewIncident = Omit<Insertable<IncidentsTable>, 'closedAt'>

/**
 * Opens the incident, or increases the count of the open one. The index `incidents_open` makes this atomic: of any
 * number of concurrent first causes exactly one opens it.
 *
 * @returns the incident's id, and whether this call opened it
 */
export async function openOrCount(
  trx: Trx,
  incident: NewIncident,
): Promise<{ id: string; opened: boolean; count: number }> {
  return await trx
    .insertInto('incidents')
    .values(incident)
    .onConflict((conflict) =>
      conflict
        .columns(['kind', 'subjectId'])
        .where('closedAt', 'is', null)
        .doUpdateSet((of) => ({
          count: of('incidents.count', '+', of.ref('excluded.count')),
          reason: of.fn.coalesce('excluded.reason', 'incidents.reason'),
        })),
    )
    .returning(['id', 'count', sql<boolean>`xmax = 0`.as('opened')])
    .executeTakeFirstOrThrow()
}

/** Closes the open incidents of these subjects; served by `incidents_open`, cheap if there is none. */
export function closeOpen(trx: Trx, kind: OpeningKind, subjectIds: readonly string[], now: Date) {
  return trx
    .updateTable('incidents')
    .set({ closedAt: now })
    .where('kind', '=', kind)
    .where('subjectId', 'in', subjectIds)
    .where('closedAt', 'is', null)
    .returningAll()
    .execute()
}

/** Adds one alert. It is fanned out when a job for it is queued, or by the next sweep. */
export async function insertAlert(trx: Trx, alert: Insertable<AlertsTable>): Promise<void> {
  await trx.insertInto('alerts').values(alert).execute()
}

/** Locks an alert that is not fanned out yet; undefined if another worker was or is faster. */
export function lockWaitingAlert(trx: Trx, id: string) {
  return trx
    .selectFrom('alerts')
    .selectAll()
    .where('id', '=', id)
    .where('fannedOutAt', 'is', null)
    .forUpdate()
    .executeTakeFirst()
}

/** The opening alert of an incident, if it is not fanned out yet: it must go before the closing one. */
export function findWaitingOpening(trx: Trx, incidentId: string) {
  return trx
    .selectFrom('alerts')
    .select('id')
    .where('incidentId', '=', incidentId)
    .where('status', '=', 'open')
    .where('fannedOutAt', 'is', null)
    .executeTakeFirst()
}

/** Marks the alert as fanned out; `lockWaitingAlert` no longer returns it. */
export async function markFannedOut(trx: Trx, id: string, now: Date): Promise<void> {
  await trx.updateTable('alerts').set({ fannedOutAt: now }).where('id', '=', id).execute()
}

/** Alerts whose fan-out job was lost; served by `alerts_waiting`. */
export function waitingSince(trx: Trx, before: Date) {
  return trx
    .selectFrom('alerts')
    .select('id')
    .where('fannedOutAt', 'is', null)
    .where('occurredAt', '<', before)
    .orderBy('occurredAt')
    .limit(1000)
    .execute()
}

/** Deletes older alerts, with their deliveries, and older closed incidents. */
export async function pruneAlerts(trx: Trx, before: Date): Promise<void> {
  await trx.deleteFrom('alerts').where('occurredAt', '<', before).execute()
  await trx.deleteFrom('incidents').where('closedAt', '<', before).execute()
}
