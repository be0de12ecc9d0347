import { ALWAYS, type Condition, parseCondition, readCondition } from '../engine/conditions/index.ts'
import { canonicalText, parseJson, type SentJson } from '../engine/json/index.ts'
import type { Db } from '../platform/db/index.ts'

/**
 * Parses a client's `match`.
 *
 * @param sent the call's body; null if it did not come as JSON text
 */
export function parseMatch(match: unknown, sent: SentJson | null): ReturnType<typeof readCondition> {
  return match === undefined ? { condition: ALWAYS } : readCondition(sent, 'match', match)
}

/** Parses the `match` query parameter of the suggest route: JSON text. */
export function parseMatchText(text: string | undefined): ReturnType<typeof readCondition> {
  if (text === undefined) return { condition: ALWAYS }
  if (parseJson(text) === undefined) {
    return { issues: [{ path: ['match'], code: 'bad_format', detail: 'match must be JSON text.' }] }
  }
  const parsed = parseCondition(undefined, text)
  if ('condition' in parsed) return parsed
  // A query parameter is a single input, so a path into its text would be meaningless.
  return { issues: parsed.issues.map((issue) => ({ ...issue, path: ['match'] })) }
}

/** The condition of a checked `match`. @throws Error if it was not checked */
export function matchOf(parsed: ReturnType<typeof parseMatch>): Condition {
  if ('condition' in parsed) return parsed.condition
  throw new Error('A match reached the use case unchecked.')
}

/** Canonical text of a condition (RFC 8785), equal for equal criteria. */
export function criteriaText(condition: Condition): string {
  return canonicalText(condition.text) ?? condition.text
}

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

/** Names and conditions of an endpoint's watchdogs, oldest first. */
export function listMatches(db: Db, endpointId: string): Promise<{ name: string; match: string }[]> {
  return db
    .selectFrom('watchdogs as w')
    .innerJoin('watchdogCriteria as c', 'c.id', 'w.criteriaId')
    .where('w.endpointId', '=', endpointId)
    .orderBy('w.createdAt')
    .select(['w.name', 'c.match'])
    .execute()
}
