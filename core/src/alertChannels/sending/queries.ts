import { type Insertable, type NotNull, type Selectable, sql } from 'kysely'
import type { z } from 'zod'
import { pageById } from '../../api/cursors.ts'
import type { Services } from '../../api/services.ts'
import { type DueLane, queueLanes } from '../../dispatch/index.ts'
import type { AlertDeliveriesTable, Db, Trx } from '../../platform/db/index.ts'
import { DAY_MS } from '../../platform/time/index.ts'
import type { Channel } from '../channel.ts'
import { ALERT_LANES } from '../declarations.ts'
import type { historyInput } from '../schema.ts'

/** Delays between attempts of a send, in seconds. */
export const DELAYS_SECONDS = [30, 270]

/** Attempts of a send, unless its channel is failing. */
export const ATTEMPTS_MAX = DELAYS_SECONDS.length + 1

/** Retention of the history. */
const HISTORY_DAYS = 30

export const historyFrom = (now: Date) => new Date(now.getTime() - HISTORY_DAYS * DAY_MS)

/** Lease of an attempt: 10 s of a send to a channel or 25 s of a mail, and the work around it. */
const LEASE_SECONDS = 30

/** One stored send of an alert to one recipient. */
export type AlertDeliveryRow = Selectable<AlertDeliveriesTable>

/** Priorities of sends within a lane. */
export const PRIORITY = { alarm: 0, notify: 1 } as const

/** A send before it is written. Its lane is its channel, or the workspace for a mail. */
export type NewSend = Omit<Insertable<AlertDeliveriesTable>, 'laneId'>

/** The columns of a send to a channel that name alert and channel. */
export const sendOf = (
  { id, workspaceId, name, kind }: Pick<Channel, 'id' | 'workspaceId' | 'name' | 'kind'>,
  alertId: string,
  at: Date,
) => ({ alertId, workspaceId, at, channelId: id, channelName: name, channelKind: kind })

const withLane = (row: NewSend) => ({
  ...row,
  laneId: (row.recipient ?? null) === null ? (row.channelId ?? row.workspaceId) : row.workspaceId,
})

/**
 * Writes the sends of an alert, and queues those that are due. Existing ones are skipped: the table's unique indexes
 * ensure that each recipient is notified once.
 */
export async function insertSends(
  services: Pick<Services, 'enqueue' | 'clock'>,
  trx: Trx,
  rows: readonly NewSend[],
): Promise<void> {
  if (rows.length === 0) return
  const inserted = await trx
    .insertInto('alertDeliveries')
    .values(rows.map(withLane))
    .onConflict((conflict) => conflict.doNothing())
    .returning(['laneId', 'workspaceId', 'nextAttemptAt'])
    .execute()
  const due = new Map<string, DueLane>()
  for (const { laneId: id, workspaceId, nextAttemptAt: dueAt } of inserted)
    if (dueAt !== null) due.set(id, { id, workspaceId, dueAt })
  await queueLanes(services, trx, ALERT_LANES, [...due.values()])
}

/** Alerts whose sends forget what their receivers said: some, or those of an endpoint that are sealed. */
type Alerts = { readonly alertIds: readonly string[] } | { readonly sealedOf: string }

/** Deletes what receivers said to alerts, which may repeat these, also where it is the last error of a channel. */
export async function forgetWords(trx: Trx, of: Alerts): Promise<void> {
  const which =
    'alertIds' in of
      ? sql`a.id = any(${of.alertIds}::uuid[])`
      : sql`a.endpoint_id = ${of.sealedOf}::uuid and a.sealed_with is not null`
  await sql`
    with told as (
      select d.id, d.channel_id, d.detail from alert_deliveries d join alerts a on a.id = d.alert_id
      where ${which} and d.detail is not null
    ), forgotten as (
      update alert_deliveries d set detail = null from told where d.id = told.id
    )
    update alert_channels c set last_error = null from told
    where c.id = told.channel_id and c.last_error = told.detail`.execute(trx)
}

/** Whether a send of any of the alerts is under way. */
export async function isAnyLeased(db: Db, alertIds: readonly string[], now: Date): Promise<boolean> {
  if (alertIds.length === 0) return false
  const row = await db
    .selectFrom('alertDeliveries')
    .where('alertId', 'in', alertIds)
    .where('leasedUntil', '>', now)
    .select('id')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** The last errors of the channels of a workspace. */
export async function lastErrors(db: Db, workspaceId: string) {
  return await db
    .selectFrom('alertChannels')
    .where('workspaceId', '=', workspaceId)
    .select(['id', 'lastError'])
    .execute()
}

export async function forgetLastErrors(trx: Trx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await trx.updateTable('alertChannels').set({ lastError: null }).where('id', 'in', ids).execute()
}

/** Deletes the last errors of channels that are as old as the history. */
export async function forgetErrorsBefore(trx: Trx, before: Date): Promise<void> {
  await trx
    .updateTable('alertChannels')
    .set({ lastError: null })
    .where('lastFailureAt', '<', before)
    .where('lastError', 'is not', null)
    .execute()
}

export const leaseFrom = (now: Date) => new Date(now.getTime() + LEASE_SECONDS * 1000)

/** Writes a send that the caller makes itself: already claimed, with its first attempt counted. */
export function insertClaimed(trx: Trx, row: NewSend, now: Date): Promise<AlertDeliveryRow> {
  return trx
    .insertInto('alertDeliveries')
    .values({ ...withLane(row), attemptCount: 1, leasedUntil: leaseFrom(now) })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Keeps of the sends of alerts only which channels they went to. */
export async function reduceSends(trx: Trx, alertIds: readonly string[]): Promise<void> {
  if (alertIds.length === 0) return
  await trx
    .deleteFrom('alertDeliveries')
    .where(sql<boolean>`alert_id = any(${alertIds}::uuid[])`)
    .where('recipient', 'is not', null)
    .execute()
  await trx
    .updateTable('alertDeliveries')
    .set({ detail: null })
    .where(sql<boolean>`alert_id = any(${alertIds}::uuid[])`)
    .where('detail', 'is not', null)
    .execute()
}

/** Channels that got the opening alert of the incident. */
export async function channelsNotified(db: Db, incidentId: string): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('alertDeliveries as d')
    .innerJoin('alerts as a', 'a.id', 'd.alertId')
    .select('d.channelId')
    .where('a.incidentId', '=', incidentId)
    .where('a.status', '=', 'open')
    .where('d.recipient', 'is', null)
    .where((where) =>
      where.or([where('d.outcome', 'is', null), where('d.outcome', 'in', ['delivered', 'failed'])]),
    )
    .execute()
  return new Set(rows.flatMap(({ channelId }) => (channelId === null ? [] : [channelId])))
}

/**
 * One page of the history, newest first; served by `alert_deliveries_by_workspace`. Sends without an attempt are
 * excluded. Filters are combined with AND.
 */
export async function listHistory(
  db: Db,
  { workspaceId, now }: { readonly workspaceId: string; readonly now: Date },
  { channelId, eventKind, outcome, ...page }: z.output<typeof historyInput>,
) {
  const matching = db
    .selectFrom('alertDeliveries as d')
    .innerJoin('alerts as a', 'a.id', 'd.alertId')
    .where('d.workspaceId', '=', workspaceId)
    .where('d.outcome', 'is not', null)
    .where('d.at', '>=', historyFrom(now))
    .$if(channelId !== undefined, (query) => query.where('d.channelId', '=', channelId ?? null))
    .where((of) => of.and(eventKind === undefined ? {} : { 'a.eventKind': eventKind }))
    .$if(outcome !== undefined, (query) => query.where('d.outcome', '=', outcome ?? null))
  const shown = matching
    .leftJoin('incidents as i', (join) => join.onRef('i.id', '=', 'a.incidentId').on('a.status', '=', 'open'))
    .selectAll('d')
    .select(['a.eventKind', 'a.severity', 'a.subjectType', 'a.subjectId', 'a.subjectName', 'a.requestId'])
    .select(sql<number>`coalesce(i.count, a.count)`.as('count'))
    .$narrowType<{ outcome: NotNull }>()
  return await pageById(shown, 'd.id', page)
}
