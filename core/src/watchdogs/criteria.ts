import type { Db } from '../platform/db/index.ts'

/** A condition that an endpoint's captures are evaluated by, for every watchdog with the same `match`. */
export interface Criteria {
  readonly id: string
  /** A stored condition as JSON text; `{}` matches every capture. */
  readonly match: string
}

/**
 * The criteria of an endpoint's running watchdogs. The capture statement notes the last match in the criteria's row;
 * watchdogs read it at their next step (rules.ts, `noticeMatch`). A capture that was being stored while a watchdog was
 * created or changed is found by the watchdog's re-check (check.ts).
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
