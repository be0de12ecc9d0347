import { type InferResult, type SqlBool, sql } from 'kysely'
import { type Between, type IdPlace, isBetweenIds } from '../api/cursors.ts'
import { type Page, window } from '../api/pagination.ts'
import type { AttemptState } from '../engine/words/index.ts'
import { countOf, type Db } from '../platform/db/index.ts'
import { sealedMembers } from '../platform/secrets/index.ts'
import { RECORDED_BODY_BYTES } from './details.ts'

/** Narrows a list of attempts; members combine with AND, and an undefined one does not narrow it. */
export interface AttemptFilters {
  readonly state?: AttemptState | undefined
  readonly requestId?: number | undefined
  readonly actionId?: string | undefined
}

/** Attempts of an endpoint. One whose request was evicted has a record only if the record holds the sent body. */
function selectAttempts(db: Db, endpointId: string, { state, requestId, actionId }: AttemptFilters = {}) {
  return (
    db
      .selectFrom('deliveryAttempts as t')
      .leftJoin('requests as r', (join) =>
        join.onRef('r.endpointId', '=', 't.endpointId').onRef('r.id', '=', 't.requestId'),
      )
      .leftJoin('actions as a', 'a.id', 't.actionId')
      .where('t.endpointId', '=', endpointId)
      .$if(state !== undefined, (query) => query.where('t.state', '=', state ?? ''))
      .$if(requestId !== undefined, (query) => query.where('t.requestId', '=', requestId ?? 0))
      .$if(actionId !== undefined, (query) => query.where('t.actionId', '=', actionId ?? ''))
      .select(['t.id', 't.requestId', 'r.label', 'a.id as actionId', 't.actionName', 't.kind', 't.state'])
      .select(['t.statusCode', 't.error', 't.url', 't.at', 't.finishedAt', 't.durationMs', 't.attemptNumber'])
      .select(['t.trigger', 't.transformed', 't.transformationVersion', 't.transformNote'])
      // The delivery was dropped with its action: no attempt follows.
      .select(sql<Date | null>`case when a.id is not null then t.next_attempt_at end`.as('nextAttemptAt'))
      .select(
        sql<boolean>`exists (select from attempt_details of
        where of.endpoint_id = t.endpoint_id and of.attempt_id = t.id and (r.id is not null or of.sent_body is not null))`.as(
          'hasDetail',
        ),
      )
  )
}

/** An attempt as lists show it. */
export type AttemptRow = InferResult<ReturnType<typeof selectAttempts>>[number]

/** Attempts of an endpoint, without those of requests in the recycle bin. */
function selectShown(db: Db, endpointId: string, filters?: AttemptFilters) {
  return selectAttempts(db, endpointId, filters).where('r.deletedAt', 'is', null)
}

/** Reads one page of attempts, newest first, with the total count. */
export async function listAttempts(
  db: Db,
  endpointId: string,
  filters: AttemptFilters,
  page: Page & Between<IdPlace>,
) {
  const { limit, offset } = window(page)
  const rows: AttemptRow[] = await selectShown(db, endpointId, filters)
    .where(isBetweenIds('t.id', page))
    .orderBy('t.id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute()
  return { rows, totalCount: await countAttempts(db, endpointId, filters) }
}

/** Excludes the deleted requests, which are few, instead of looking up the request of each attempt. */
async function countAttempts(db: Db, endpointId: string, { state, requestId, actionId }: AttemptFilters) {
  const attempts = db
    .selectFrom('deliveryAttempts as t')
    .where('t.endpointId', '=', endpointId)
    .where(
      sql<SqlBool>`t.request_id not in (
        select r.id from requests r where r.endpoint_id = ${endpointId} and r.deleted_at is not null)`,
    )
    .$if(state !== undefined, (query) => query.where('t.state', '=', state ?? ''))
    .$if(requestId !== undefined, (query) => query.where('t.requestId', '=', requestId ?? 0))
    .$if(actionId !== undefined, (query) => query.where('t.actionId', '=', actionId ?? ''))
  return await countOf(attempts)
}

/** Reads an attempt. Undefined if it is absent, another endpoint's, or its request is in the recycle bin. */
export function findAttempt(db: Db, endpointId: string, id: number): Promise<AttemptRow | undefined> {
  return selectShown(db, endpointId).where('t.id', '=', id).executeTakeFirst()
}

/** Reads attempts by id, in no order, also those of requests in the recycle bin. */
export function findAttempts(db: Db, endpointId: string, ids: readonly number[]): Promise<AttemptRow[]> {
  return ids.length === 0
    ? Promise.resolve([])
    : selectAttempts(db, endpointId).where('t.id', 'in', ids).execute()
}

/** Reads the record of an attempt. Undefined if nothing was sent or the record was pruned. */
export function findDetail(db: Db, endpointId: string, attemptId: number) {
  return (
    db
      .selectFrom('attemptDetails as d')
      .leftJoin('requests as r', (join) =>
        join.onRef('r.endpointId', '=', 'd.endpointId').onRef('r.id', '=', 'd.requestId'),
      )
      .where('d.endpointId', '=', endpointId)
      .where('d.attemptId', '=', attemptId)
      .where((where) => where.or([where('r.id', 'is not', null), where('d.sentBody', 'is not', null)]))
      .select(['d.sentMethod', 'd.sentUrl', 'd.sentHeaders', 'd.sentBodyTruncated'])
      .select(['d.receivedStatusCode', 'd.receivedHeaders', 'd.receivedBody', 'd.receivedBodyTruncated'])
      // A record without a body was sent the captured bytes unchanged: they are read from the request.
      .select(
        sql<Buffer>`coalesce(d.sent_body, case when r.sealed_with is null then substring(r.body for ${RECORDED_BODY_BYTES}) else ''::bytea end)`.as(
          'sentBody',
        ),
      )
      .select(sealedMembers('d'))
      .executeTakeFirst()
  )
}

/** The record of what was sent and received in one attempt. */
export type DetailRow = NonNullable<Awaited<ReturnType<typeof findDetail>>>
