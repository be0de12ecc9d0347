import type { Db } from '../platform/db/index.ts'

/** One thing that an endpoint's captures are held against, on behalf of every watchdog with the same `match`. */
export interface Criteria {
  readonly id: string
  /** A stored condition as JSON text; `{}` is met by every capture. */
  readonly match: string
}

/**
 * What captures on an endpoint must be held against: the criteria of its running watchdogs. The capture statement
 * notes the last match in the criteria's row, and the watchdogs take it from there when they are next looked at
 * (rules.ts, `noticeMatch`). A capture that was being stored while a watchdog was made or changed is found by the
 * watchdog's re-check (check.ts).
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
