import { type Insertable, sql } from 'kysely'
import type { AlertsTable, IncidentsTable, Trx } from '../platform/db/index.ts'
import type { OpeningKind } from './events.ts'

/** The columns of an incident before it is written; a new one is always open. */
export type NewIncident = Omit<Insertable<IncidentsTable>, 'closedAt'>

/**
 * Opens the incident, or counts one more cause of the one that is open. `incidents_open` makes the two
 * indivisible: of any number of concurrent first causes exactly one opens.
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

/** Closes those that are open of these subjects; served by `incidents_open`, cheap when there is none. */
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

/** Adds one alert. It is fanned out only when a job is queued for it, or by the next sweep. */
export async function insertAlert(trx: Trx, alert: Insertable<AlertsTable>): Promise<void> {
  await trx.insertInto('alerts').values(alert).execute()
}

/**
 * Locks an alert that nobody has fanned out yet; undefined when another worker was first, or is at it.
 */
export function lockWaitingAlert(trx: Trx, id: string) {
  return trx
    .selectFrom('alerts')
    .selectAll()
    .where('id', '=', id)
    .where('fannedOutAt', 'is', null)
    .forUpdate()
    .executeTakeFirst()
}

/** The opening alert of an incident, while it waits to be fanned out: it goes before the closing one. */
export function findWaitingOpening(trx: Trx, incidentId: string) {
  return trx
    .selectFrom('alerts')
    .select('id')
    .where('incidentId', '=', incidentId)
    .where('status', '=', 'open')
    .where('fannedOutAt', 'is', null)
    .executeTakeFirst()
}

/** Writes when the alert was fanned out; from then on `lockWaitingAlert` does not return it. */
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

/** Deletes alerts, with their deliveries, and closed incidents that are older. */
export async function pruneAlerts(trx: Trx, before: Date): Promise<void> {
  await trx.deleteFrom('alerts').where('occurredAt', '<', before).execute()
  await trx.deleteFrom('incidents').where('closedAt', '<', before).execute()
}
