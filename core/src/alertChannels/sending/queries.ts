import { type Insertable, type Selectable, sql } from 'kysely'
import { type Between, type IdPlace, isBetweenIds } from '../../api/cursors.ts'
import { type Page, window } from '../../api/pagination.ts'
import type { Services } from '../../api/services.ts'
import type { AlertDeliveriesTable, Db, Trx } from '../../platform/db/index.ts'
import type { Outcome } from '../schema.ts'
import { CLAIM_SECONDS, EARLY_SECONDS } from './attempts.ts'
import { ALERT_SENDS } from './jobs.ts'

/** One stored send of an alert to one recipient. */
export type AlertDeliveryRow = Selectable<AlertDeliveriesTable>
/** The columns of an alert delivery before it is written. */
export type NewAlertDelivery = Insertable<AlertDeliveriesTable>

/**
 * Writes the sends of an alert. Existing ones are skipped: the table's unique indexes ensure that each recipient is
 * notified once.
 *
 * @returns the ids of those that are due
 */
export async function insertDeliveries(trx: Trx, rows: readonly NewAlertDelivery[]): Promise<number[]> {
  if (rows.length === 0) return []
  const inserted = await trx
    .insertInto('alertDeliveries')
    .values([...rows])
    .onConflict((conflict) => conflict.doNothing())
    .returning(['id', 'nextAttemptAt'])
    .execute()
  return inserted.filter(({ nextAttemptAt }) => nextAttemptAt !== null).map(({ id }) => id)
}

/** Writes a send that the caller makes itself: already claimed, with its first attempt counted. */
export function insertClaimed(trx: Trx, row: NewAlertDelivery, now: Date): Promise<AlertDeliveryRow> {
  return trx
    .insertInto('alertDeliveries')
    .values({ ...row, attemptCount: 1, nextAttemptAt: new Date(now.getTime() + CLAIM_SECONDS * 1000) })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Queues attempts of sends, in the transaction that made them due. */
export async function queueSends(
  { enqueue }: Pick<Services, 'enqueue'>,
  trx: Trx,
  ids: readonly number[],
  startAfter?: Date,
): Promise<void> {
  await enqueue(
    trx,
    ALERT_SENDS,
    ids.map((alertDeliveryId) => ({
      payload: { alertDeliveryId },
      ...(startAfter === undefined ? {} : { startAfter }),
    })),
  )
}

/**
 * Claims a send that is due; only one worker gets the row. It is due again when the claim ends, so a worker's death
 * loses nothing.
 *
 * @returns the row with this attempt counted; undefined when it is not due
 */
export function claimDelivery(trx: Trx, id: number, now: Date): Promise<AlertDeliveryRow | undefined> {
  return trx
    .updateTable('alertDeliveries')
    .set((of) => ({
      nextAttemptAt: new Date(now.getTime() + CLAIM_SECONDS * 1000),
      attemptCount: of('attemptCount', '+', 1),
    }))
    .where('id', '=', id)
    .where('nextAttemptAt', '<=', new Date(now.getTime() + EARLY_SECONDS * 1000))
    .returningAll()
    .executeTakeFirst()
}

/** Time at which the send is due next; undefined when it has ended. */
export async function dueAt(db: Db, id: number): Promise<Date | undefined> {
  const row = await db
    .selectFrom('alertDeliveries')
    .select('nextAttemptAt')
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.nextAttemptAt ?? undefined
}

/** Outcome of one send, and the time of its retry; null if none follows. */
export interface AttemptResult {
  readonly outcome: Outcome
  readonly detail: string | null
  readonly statusCode: number | null
  readonly durationMs: number | null
  readonly nextAttemptAt: Date | null
}

/**
 * Records the result of a claimed attempt.
 *
 * @returns false when the claim had expired and another worker took over; then nothing was written
 */
export async function recordAttempt(
  trx: Trx,
  { id, attemptCount }: Pick<AlertDeliveryRow, 'id' | 'attemptCount'>,
  result: AttemptResult,
  now: Date,
): Promise<boolean> {
  const updated = await trx
    .updateTable('alertDeliveries')
    .set({ ...result, at: now })
    .where('id', '=', id)
    .where('attemptCount', '=', attemptCount)
    .where('nextAttemptAt', 'is not', null)
    .executeTakeFirst()
  return updated.numUpdatedRows > 0n
}

/**
 * Time at which the incident's opening alert is due next for the same recipient; undefined when that send has ended. A
 * closing alert must not arrive before its opening one, or a pager would keep ringing.
 */
export async function openingDueAt(
  db: Db,
  { channelId, recipient }: Pick<AlertDeliveryRow, 'channelId' | 'recipient'>,
  incidentId: string,
): Promise<Date | undefined> {
  const row = await db
    .selectFrom('alertDeliveries as d')
    .innerJoin('alerts as a', 'a.id', 'd.alertId')
    .select('d.nextAttemptAt')
    .where('a.incidentId', '=', incidentId)
    .where('a.status', '=', 'open')
    .where('d.nextAttemptAt', 'is not', null)
    .where(sql<boolean>`d.recipient is not distinct from ${recipient}`)
    .$if(recipient === null, (query) => query.where('d.channelId', '=', channelId))
    .executeTakeFirst()
  return row?.nextAttemptAt ?? undefined
}

/** Releases a claimed attempt without counting it: it is due again at `at`. */
export async function releaseClaim(
  trx: Trx,
  { id, attemptCount }: Pick<AlertDeliveryRow, 'id' | 'attemptCount'>,
  at: Date,
): Promise<void> {
  await trx
    .updateTable('alertDeliveries')
    .set({ nextAttemptAt: at, attemptCount: attemptCount - 1 })
    .where('id', '=', id)
    .where('attemptCount', '=', attemptCount)
    .where('nextAttemptAt', 'is not', null)
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

/** Sends that are overdue because their jobs were lost. Served by `alert_deliveries_due`. */
export function overdueSince(db: Db, before: Date) {
  return db
    .selectFrom('alertDeliveries')
    .select('id')
    .where('nextAttemptAt', '<', before)
    .orderBy('nextAttemptAt')
    .limit(1000)
    .execute()
}

/** Filters of the history, combined with AND; an undefined one is ignored. */
export interface HistoryFilter {
  readonly channelId?: string | undefined
  readonly eventKind?: string | undefined
  readonly outcome?: string | undefined
}

/**
 * One page of the history, newest first; served by `alert_deliveries_by_workspace`. Sends without an attempt are
 * excluded.
 */
export async function listHistory(
  db: Db,
  workspaceId: string,
  filter: HistoryFilter,
  page: Page & Between<IdPlace>,
) {
  const { limit, offset } = window(page)
  const matching = db
    .selectFrom('alertDeliveries as d')
    .innerJoin('alerts as a', 'a.id', 'd.alertId')
    .where('d.workspaceId', '=', workspaceId)
    .where('d.outcome', 'is not', null)
    .$if(filter.channelId !== undefined, (query) => query.where('d.channelId', '=', filter.channelId ?? null))
    .$if(filter.eventKind !== undefined, (query) => query.where('a.eventKind', '=', filter.eventKind ?? ''))
    .$if(filter.outcome !== undefined, (query) => query.where('d.outcome', '=', filter.outcome ?? null))
  const rows = await matching
    .leftJoin('incidents as i', (join) => join.onRef('i.id', '=', 'a.incidentId').on('a.status', '=', 'open'))
    .selectAll('d')
    .select(['a.eventKind', 'a.severity', 'a.subjectType', 'a.subjectId', 'a.subjectName', 'a.requestId'])
    .select(sql<number>`coalesce(i.count, a.count)`.as('count'))
    .where(isBetweenIds('d.id', page))
    .orderBy('d.id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute()
  const { count } = await matching
    .select((of) => of.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return { rows, totalCount: count }
}
