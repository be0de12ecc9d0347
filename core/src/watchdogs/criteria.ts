import { sql } from 'kysely'
import type { Db, Trx } from '../db/index.ts'

/** One thing that an endpoint's captures are held against, on behalf of every watchdog with the same `match`. */
export interface Criteria {
  readonly id: string
  /** A stored condition as JSON text; `{}` is met by every capture. */
  readonly match: string
}

/** The last request of a batch that met some criteria. */
export interface CriteriaMatch {
  readonly criteriaId: string
  readonly requestId: number
  readonly receivedAt: Date
}

/**
 * What captures on an endpoint must be held against: the criteria of its running watchdogs. A capture that was
 * being stored while a watchdog was made or changed is found by the watchdog's re-check (check.ts).
 */
export function listCriteria(db: Db, endpointId: string): Promise<Criteria[]> {
  return db
    .selectFrom('watchdogCriteria as c')
    .where('c.endpointId', '=', endpointId)
    .where((where) =>
      where.exists(
        where
          .selectFrom('watchdogs as w')
          .whereRef('w.criteriaId', '=', 'c.id')
          .where('w.active', '=', true)
          .where('w.pausedByPlan', '=', false)
          .select('w.id'),
      ),
    )
    .select(['c.id', 'c.match'])
    .execute()
}

/**
 * Notes the matches of a batch, in the capture's own transaction and under the endpoints' counter locks: the
 * ids of an endpoint come in order, so the last write is the last match. One row a criteria, no index touched;
 * the watchdogs themselves take it from here when they are next looked at (rules.ts, `noticeMatch`).
 */
export async function recordMatches(trx: Trx, matches: readonly CriteriaMatch[]): Promise<void> {
  if (matches.length === 0) return
  await sql`
    update watchdog_criteria c
    set last_matched_at = m.received_at, last_matched_request_id = m.request_id
    from unnest(
      ${matches.map((match) => match.criteriaId)}::uuid[],
      ${matches.map((match) => match.requestId)}::bigint[],
      ${matches.map((match) => match.receivedAt)}::timestamptz[]
    ) as m (criteria_id, request_id, received_at)
    where c.id = m.criteria_id
      and (c.last_matched_request_id is null or c.last_matched_request_id < m.request_id)`.execute(trx)
}
