import { type Insertable, sql } from 'kysely'
import type { Occasion } from '../alerts/index.ts'
import { type Db, type DeliveryAttemptsTable, run, statement, type Trx } from '../platform/db/index.ts'

/** Member, column and SQL type of what {@link INSERT_ATTEMPTS} writes. */
const NEW_COLUMNS = [
  ['endpointId', 'endpoint_id', 'uuid'],
  ['deliveryId', 'delivery_id', 'bigint'],
  ['workspaceId', 'workspace_id', 'uuid'],
  ['requestId', 'request_id', 'bigint'],
  ['actionId', 'action_id', 'uuid'],
  ['actionName', 'action_name', 'text'],
  ['kind', 'kind', 'text'],
  ['state', 'state', 'text'],
  ['attemptNumber', 'attempt_number', 'int'],
  ['trigger', 'trigger', 'text'],
  ['error', 'error', 'text'],
  ['url', 'url', 'text'],
  ['at', 'at', 'timestamptz'],
  ['finishedAt', 'finished_at', 'timestamptz'],
  ['durationMs', 'duration_ms', 'int'],
  ['leaseUntil', 'lease_until', 'timestamptz'],
] as const

type NewAttempt = Pick<Insertable<DeliveryAttemptsTable>, (typeof NEW_COLUMNS)[number][0]>

const INSERT_ATTEMPTS = statement(
  'insert attempts',
  `insert into delivery_attempts (${NEW_COLUMNS.map(([, column]) => column).join(', ')})
  select * from unnest(${NEW_COLUMNS.map(([, , type], index) => `$${index + 1}::${type}[]`).join(', ')})
  on conflict (delivery_id, attempt_number, endpoint_id) where delivery_id is not null do nothing
  returning id, delivery_id`,
  { notNull: ['deliveryId'] },
)

/**
 * Writes the rows of attempts. An attempt that has a row already is skipped: another worker was first
 * (`delivery_attempts_by_delivery`).
 *
 * @param rows only the members of {@link NEW_COLUMNS} are read
 * @returns the ids in no order, by delivery; inline replays have no delivery and go through {@link insertInlineAttempt}
 */
export async function insertAttempts(trx: Trx, rows: readonly NewAttempt[]): Promise<Map<number, number>> {
  if (rows.length === 0) return new Map()
  const inserted = await run(
    trx,
    INSERT_ATTEMPTS,
    NEW_COLUMNS.map(([member]) => rows.map((row) => row[member] ?? null)),
  )
  return new Map(inserted.map(({ id, deliveryId }) => [deliveryId, id]))
}

/** Writes the Pending row of an inline replay. */
export async function insertInlineAttempt(trx: Trx, row: Insertable<DeliveryAttemptsTable>): Promise<number> {
  const { id } = await trx
    .insertInto('deliveryAttempts')
    .values(row)
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function removeDeliveries(trx: Trx, ids: readonly number[]): Promise<void> {
  if (ids.length > 0) await sql`delete from deliveries where id = any(${ids}::bigint[])`.execute(trx)
}

/**
 * Locks overdue attempts, oldest first. Skips those that another process has locked. Served by
 * `delivery_attempts_pending`.
 */
export function lockOverdue(trx: Trx, now: Date, limit: number) {
  return trx
    .selectFrom('deliveryAttempts')
    .where('state', '=', 'Pending')
    .where('leaseUntil', '<=', now)
    .orderBy('leaseUntil')
    .limit(limit)
    .select(['endpointId', 'id', 'deliveryId', 'attemptNumber', 'at', 'workspaceId', 'requestId'])
    .select(['actionId', 'actionName'])
    .forUpdate()
    .skipLocked()
    .execute()
}

/** Selects open deliveries: by id, or by request. */
export type DeliveriesOf =
  | { readonly ids: readonly number[] }
  | { readonly endpointId: string; readonly requestIds: readonly number[] }

function selectOpen(db: Db, of: DeliveriesOf) {
  return (
    db
      .selectFrom('deliveries as d')
      .innerJoin('endpoints as e', 'e.id', 'd.endpointId')
      .innerJoin('actions as a', 'a.id', 'd.actionId')
      .innerJoin('requests as r', (join) =>
        join.onRef('r.endpointId', '=', 'd.endpointId').onRef('r.id', '=', 'd.requestId'),
      )
      // The index of lanes has open deliveries and those that hold a key.
      .where('d.flowState', 'is not', null)
      .where('d.finishedAt', 'is', null)
      .where((where) =>
        'ids' in of
          ? where('d.id', 'in', of.ids)
          : where.and([where('d.endpointId', '=', of.endpointId), where('d.requestId', 'in', of.requestIds)]),
      )
      .select(['d.id', 'd.workspaceId', 'd.endpointId', 'd.requestId', 'd.actionId', 'd.kind', 'd.trigger'])
      .select(['d.attemptCount', 'd.nextAttemptAt', 'd.flowState', 'e.name as endpointName'])
      .select(['a.name as actionName', 'a.url', 'a.deliveryPolicy', 'a.isActive', 'a.suspendedByPlan'])
      .orderBy('d.id')
  )
}

/** Open deliveries whose endpoint, action and request still exist, oldest first. */
export const findOpenDeliveries = (db: Db, of: DeliveriesOf) => selectOpen(db, of).execute()

/** The same, locked in this order: none of them ends otherwise before the transaction does. */
export const lockOpenDeliveries = (trx: Trx, of: DeliveriesOf) => selectOpen(trx, of).forUpdate('d').execute()

/** A delivery that is still open, with the facts for its incident. */
export type OpenDelivery = Awaited<ReturnType<typeof findOpenDeliveries>>[number]

/** The facts of a row that an incident of its action shows. */
export const occasionOfRow = (
  row: Pick<OpenDelivery, 'workspaceId' | 'actionId' | 'actionName' | 'endpointId' | 'endpointName'> &
    Pick<Occasion, 'requestId'>,
) => ({
  workspaceId: row.workspaceId,
  subject: { id: row.actionId, name: row.actionName },
  endpoint: { id: row.endpointId, name: row.endpointName },
  requestId: row.requestId,
})
