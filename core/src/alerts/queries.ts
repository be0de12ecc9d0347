import { type Insertable, sql } from 'kysely'
import type { AlertsTable, Db, IncidentsTable, Trx } from '../platform/db/index.ts'
import { type DataKeyRef, type SecretBox, sealedAs, sealedMembers } from '../platform/secrets/index.ts'
import { OPENING_KINDS, type OpeningKind } from './events.ts'

/**
 * Opens the incident, or increases the count of the open one. The index `incidents_open` makes this atomic: of any
 * number of concurrent first causes exactly one opens it.
 *
 * @param incident a new one is always open
 * @returns the incident's id, its count, and whether this call opened it
 */
export async function openOrCount(trx: Trx, incident: Omit<Insertable<IncidentsTable>, 'closedAt'>) {
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

/** Locks the open incidents of subjects until the transaction ends. Returns the subjects that have one, in order. */
export async function lockOpen(
  trx: Trx,
  kind: OpeningKind,
  subjectIds: readonly string[],
): Promise<string[]> {
  if (subjectIds.length === 0) return []
  const rows = await trx
    .selectFrom('incidents')
    .select('subjectId')
    .where('kind', '=', kind)
    .where('subjectId', 'in', subjectIds)
    .where('closedAt', 'is', null)
    .orderBy('subjectId')
    .forNoKeyUpdate()
    .execute()
  return rows.map(({ subjectId }) => subjectId)
}

/** Closes the open incidents of these subjects; served by `incidents_open`, cheap if there is none. */
export function closeOpen(trx: Trx, kinds: readonly OpeningKind[], subjectIds: readonly string[], now: Date) {
  return trx
    .updateTable('incidents')
    .set({ closedAt: now })
    .where('kind', 'in', kinds)
    .where('subjectId', 'in', subjectIds)
    .where('closedAt', 'is', null)
    .returningAll()
    .execute()
}

/** Closes the open incidents of endpoints, of their actions and of their watchdogs; served by `incidents_open`. */
export async function closeOpenOf(trx: Trx, endpointIds: readonly string[], now: Date): Promise<void> {
  // One parameter, since any number of endpoints may expire at once.
  const isOfEndpoint = sql<boolean>`endpoint_id = any(${endpointIds}::uuid[])`
  await trx
    .updateTable('incidents')
    .set({ closedAt: now })
    .where('kind', 'in', OPENING_KINDS)
    .where('subjectId', 'in', (of) =>
      of
        .selectFrom('endpoints')
        .where(sql<boolean>`id = any(${endpointIds}::uuid[])`)
        .select('id')
        .unionAll(of.selectFrom('actions').where(isOfEndpoint).select('id'))
        .unionAll(of.selectFrom('watchdogs').where(isOfEndpoint).select('id')),
    )
    .where('closedAt', 'is', null)
    .execute()
}

/** Adds alerts, at least one. Each is fanned out when a job for it is queued, or by the next sweep. */
export async function insertAlerts(trx: Trx, ...alerts: readonly Insertable<AlertsTable>[]): Promise<void> {
  await trx.insertInto('alerts').values(alerts).execute()
}

const waiting = (trx: Trx) =>
  trx.selectFrom('alerts').selectAll().where('fannedOutAt', 'is', null).forUpdate()

/** Locks an alert that is not fanned out yet; undefined if another worker was or is faster. */
export const lockWaitingAlert = (trx: Trx, id: string) => waiting(trx).where('id', '=', id).executeTakeFirst()

/** Locks alerts, in the order of their ids, until the transaction ends. */
export async function lockAlerts(trx: Trx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await trx.selectFrom('alerts').select('id').where('id', 'in', ids).orderBy('id').forNoKeyUpdate().execute()
}

/** Locks the opening alert of an incident, if it is not fanned out yet: it must go before the closing one. */
export const lockWaitingOpening = (trx: Trx, incidentId: string) =>
  waiting(trx).where('incidentId', '=', incidentId).where('status', '=', 'open').executeTakeFirst()

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

/**
 * Deletes older closed incidents, and older alerts with their deliveries. The opening alert of an incident that is left
 * stays, without its message: its closing alert goes to the same channels.
 *
 * @returns the older alerts that stay
 */
export async function pruneAlerts(trx: Trx, before: Date): Promise<readonly string[]> {
  await trx.deleteFrom('incidents').where('closedAt', '<', before).execute()
  await trx
    .deleteFrom('alerts')
    .where('occurredAt', '<', before)
    .where((of) =>
      of.or([
        of('status', '!=', 'open'),
        of.not(
          of.exists(
            of
              .selectFrom('incidents as i')
              .whereRef('i.id', '=', 'alerts.incidentId')
              .select(sql.lit(1).as('one')),
          ),
        ),
      ]),
    )
    .execute()
  await trx
    .updateTable('alerts')
    .set({ reason: null, sealedWith: null, sealed: null })
    .where('occurredAt', '<', before)
    .where((of) => of.or([of('reason', 'is not', null), of('sealed', 'is not', null)]))
    .execute()
  const left = await trx.selectFrom('alerts').where('occurredAt', '<', before).select('id').execute()
  return left.map(({ id }) => id)
}

export async function nextReasons(db: Db, workspaceId: string, afterId: string, limit: number) {
  return await db
    .selectFrom('alerts')
    .where('workspaceId', '=', workspaceId)
    .where('id', '>', afterId)
    .where((where) => where.or([where('reason', 'is not', null), where('sealed', 'is not', null)]))
    .select(['id', 'reason'])
    .select(sealedMembers('alerts'))
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** Deletes messages of alerts. The alerts stay in the history. */
export async function forgetReasons(trx: Trx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await trx
    .updateTable('alerts')
    .set({ reason: null, sealedWith: null, sealed: null })
    .where('id', 'in', ids)
    .execute()
}

/** The next reasons of incidents of a workspace, after an id. */
export async function nextIncidentReasons(db: Db, workspaceId: string, afterId: string, limit: number) {
  return await db
    .selectFrom('incidents')
    .where('workspaceId', '=', workspaceId)
    .where('id', '>', afterId)
    .where('reason', 'is not', null)
    .select(['id', 'reason'])
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** Deletes reasons of incidents. The incidents stay. */
export async function forgetIncidentReasons(trx: Trx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await trx.updateTable('incidents').set({ reason: null }).where('id', 'in', ids).execute()
}

/** Messages that one call seals. */
const AT_ONCE = 200

/** Seals messages of notify actions of an endpoint, which repeat captures. Returns whether there may be more. */
export async function sealMessages(
  secrets: Pick<SecretBox, 'open'>,
  trx: Trx,
  endpointId: string,
  sealing: DataKeyRef,
): Promise<boolean> {
  const rows = await trx
    .selectFrom('alerts')
    .where('endpointId', '=', endpointId)
    .where('eventKind', '=', 'action.notify')
    .where('reason', 'is not', null)
    .select(['id', 'reason'])
    .limit(AT_ONCE)
    .execute()
  for (const { id, reason } of rows)
    await trx
      .updateTable('alerts')
      .set({ reason: null, ...sealedAs(secrets, sealing, { reason }) })
      .where('id', '=', id)
      .execute()
  return rows.length === AT_ONCE
}
