import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import {
  type ActionsTable,
  countOf,
  type Db,
  type TransformationRulesTable,
  type TransformationRuleVersionsTable,
  type Trx,
} from '../platform/db/index.ts'

/** A stored rule with its latest document. */
export type RuleRow = Selectable<TransformationRulesTable>
export type VersionRow = Selectable<TransformationRuleVersionsTable>

/** A forward action, reduced to the columns that rules need. */
export type Destination = Pick<Selectable<ActionsTable>, 'id' | 'name' | 'url'>

/** The endpoint's forward action with that id, or by default the first by position; enabled or not. */
export function findDestination(db: Db, endpointId: string, actionId?: string) {
  return db
    .selectFrom('actions')
    .select(['id', 'name', 'url'])
    .where('endpointId', '=', endpointId)
    .where('kind', '=', 'forward')
    .$if(actionId !== undefined, (query) => query.where('id', '=', actionId ?? ''))
    .orderBy('position')
    .limit(1)
    .executeTakeFirst()
}

/** The rules of a destination, in their order. */
export function listRules(db: Db, actionId: string): Promise<RuleRow[]> {
  return db
    .selectFrom('transformationRules')
    .selectAll()
    .where('actionId', '=', actionId)
    .orderBy('position')
    .execute()
}

/** The rules of several destinations in one query; served by the unique index on (action_id, position). */
export function listRulesOf(db: Db, actionIds: readonly string[]): Promise<RuleRow[]> {
  return db
    .selectFrom('transformationRules')
    .selectAll()
    .where(sql<boolean>`action_id = any(${actionIds}::uuid[])`)
    .orderBy('actionId')
    .orderBy('position')
    .execute()
}

export function findRule(db: Db, endpointId: string, id: string): Promise<RuleRow | undefined> {
  return db
    .selectFrom('transformationRules')
    .selectAll()
    .where('endpointId', '=', endpointId)
    .where('id', '=', id)
    .executeTakeFirst()
}

/**
 * Locks a destination's set against changes of its rules and their order, until the transaction ends.
 *
 * @returns whether the destination still exists
 */
export async function lockSet(trx: Trx, actionId: string): Promise<boolean> {
  // The action's row is locked on behalf of rules that do not exist yet. Deliveries only read it and are not blocked.
  const { rows } = await sql`select from actions where id = ${actionId} for no key update`.execute(trx)
  return rows.length > 0
}

/** Locks one rule against changes; undefined if it is gone. */
export function lockRule(trx: Trx, id: string): Promise<RuleRow | undefined> {
  return trx.selectFrom('transformationRules').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
}

/** Adds one rule; its first version is written separately. */
export async function insertRule(trx: Trx, row: Insertable<TransformationRulesTable>): Promise<void> {
  await trx.insertInto('transformationRules').values(row).execute()
}

/** Adds one version; the rule's own row is not changed. */
export async function insertVersion(
  trx: Trx,
  row: Insertable<TransformationRuleVersionsTable>,
): Promise<void> {
  await trx.insertInto('transformationRuleVersions').values(row).execute()
}

/** Updates only the given columns. A no-op when no rule has the id. */
export async function updateRule(
  trx: Trx,
  id: string,
  changes: Updateable<TransformationRulesTable>,
): Promise<void> {
  await trx.updateTable('transformationRules').set(changes).where('id', '=', id).execute()
}

/** Deletes a rule with its versions; later positions move up. */
export async function deleteRule(trx: Trx, { id, actionId, position }: RuleRow): Promise<void> {
  await trx.deleteFrom('transformationRules').where('id', '=', id).execute()
  await sql`
    update transformation_rules set position = position - 1
    where action_id = ${actionId} and position > ${position}`.execute(trx)
}

/** Numbers rules 1, 2, 3… in the given order. The uniqueness of positions is checked when the transaction ends. */
export async function numberRules(trx: Trx, ids: readonly string[]): Promise<void> {
  await sql`
    update transformation_rules r set position = u.position
    from unnest(${ids}::uuid[]) with ordinality as u (id, position)
    where r.id = u.id and r.position <> u.position`.execute(trx)
}

/** Every version of a rule, newest first. */
export function listVersions(db: Db, ruleId: string): Promise<VersionRow[]> {
  return db
    .selectFrom('transformationRuleVersions')
    .selectAll()
    .where('ruleId', '=', ruleId)
    .orderBy('version', 'desc')
    .execute()
}

/** Characters of the documents of all versions of a rule. */
export async function versionsLength(db: Db, ruleId: string): Promise<number> {
  const { length } = await db
    .selectFrom('transformationRuleVersions')
    .select(sql<number>`coalesce(sum(length(rule)), 0)::int`.as('length'))
    .where('ruleId', '=', ruleId)
    .executeTakeFirstOrThrow()
  return length
}

/** One version of a rule by its number; undefined when there is none. */
export function findVersion(db: Db, ruleId: string, version: number): Promise<VersionRow | undefined> {
  return db
    .selectFrom('transformationRuleVersions')
    .selectAll()
    .where('ruleId', '=', ruleId)
    .where('version', '=', version)
    .executeTakeFirst()
}

export async function forgetFaults(trx: Trx, ruleIds: readonly string[]): Promise<void> {
  if (ruleIds.length === 0) return
  await sql`delete from rule_faults where rule_id = any(${ruleIds}::uuid[])`.execute(trx)
}

/**
 * Records that a rule faulted on a request; the same request counts once.
 *
 * @returns the number of distinct requests on which it faulted since it last ran without a fault
 */
export async function noteFault(trx: Trx, ruleId: string, requestId: number, at: Date): Promise<number> {
  await trx
    .insertInto('ruleFaults')
    .values({ ruleId, requestId, faultedAt: at })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return await countOf(trx.selectFrom('ruleFaults').where('ruleId', '=', ruleId))
}
