import { type Selectable, sql } from 'kysely'
import type { Viewer } from '../api/context.ts'
import { type Between, pageByTime, type TimePlace } from '../api/cursors.ts'
import type { Page } from '../api/pagination.ts'
import type { Db, EventSubscriptionsTable, Trx } from '../platform/db/index.ts'

/** A subscription as it is stored. */
export type SubscriptionRow = Selectable<EventSubscriptionsTable>

/** SQL of the watermark of `s`: before the first event that waits, else the last request that was looked at. */
export const WATERMARK = `coalesce((
  select min(d.request_id) - 1 from event_deliveries d where d.subscription_id = s.id and d.state = 'waiting'
), s.read_position)`

function shown(db: Db, { workspaceId, onlyEndpointId, now }: Viewer) {
  return db
    .selectFrom('eventSubscriptions as s')
    .innerJoin('apiKeys as k', 'k.id', 's.keyId')
    .where('s.workspaceId', '=', workspaceId)
    .where('s.expiresAt', '>', now)
    .$if(onlyEndpointId !== null, (query) => query.where('s.endpointId', '=', onlyEndpointId ?? ''))
    .selectAll('s')
    .select(['k.name as keyName', 'k.prefix as keyPrefix'])
    .select([
      // Every event up to this request was acknowledged or given up.
      sql<number>`${sql.raw(WATERMARK)}`.as('watermark'),
      sql<number>`(
        select count(*)::int from event_deliveries d where d.subscription_id = s.id and d.state = 'waiting'
      )`.as('waitingCount'),
    ])
}

/** One page of the live subscriptions, newest first. */
export async function listSubscriptions(db: Db, viewer: Viewer, page: Page & Between<TimePlace>) {
  return await pageByTime(shown(db, viewer), ['s.createdAt', 's.id'], page)
}

/** A live subscription; undefined where there is none for this viewer. */
export async function findSubscription(db: Db, viewer: Viewer, id: string) {
  return await shown(db, viewer).where('s.id', '=', id).executeTakeFirst()
}

export type ShownRow = NonNullable<Awaited<ReturnType<typeof findSubscription>>>

/** Whether a live subscription of the principal has this callback, which then was checked. */
export async function hasCallback(
  db: Db,
  { principalId, callbackSha256 }: Pick<SubscriptionRow, 'principalId' | 'callbackSha256'>,
  now: Date,
): Promise<boolean> {
  const row = await db
    .selectFrom('eventSubscriptions')
    .where('principalId', '=', principalId)
    .where('callbackSha256', '=', callbackSha256)
    .where('expiresAt', '>', now)
    .select('id')
    .executeTakeFirst()
  return row !== undefined
}

/** Locks a subscription, live or not. */
export async function lockSubscription(trx: Trx, id: string): Promise<SubscriptionRow | undefined> {
  return await trx
    .selectFrom('eventSubscriptions')
    .where('id', '=', id)
    .selectAll()
    .forUpdate()
    .executeTakeFirst()
}

/** Deletes a subscription with its events; undefined where it is gone. */
export async function deleteSubscription(trx: Trx, id: string): Promise<SubscriptionRow | undefined> {
  return await trx.deleteFrom('eventSubscriptions').where('id', '=', id).returningAll().executeTakeFirst()
}

/** Newest messages of a subscription. */
export async function newestDeliveries(db: Db, id: string, limit: number) {
  return await db
    .selectFrom('eventDeliveries')
    .where('subscriptionId', '=', id)
    .select(['messageId', 'requestId', 'state', 'nextAt', 'attempts'])
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}
