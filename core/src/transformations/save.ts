import { randomUUID } from 'node:crypto'
import type { Context } from '../api/context.ts'
import { DomainError, notFound, validationFailed } from '../api/errors.ts'
import { requireFeature, requireRoom } from '../api/planGates.ts'
import { recordChange } from '../audit/index.ts'
import type { InputIssue } from '../engine/issues.ts'
import { sameDocument } from '../engine/json/index.ts'
import { DOCUMENT_LIMITS, decodeRule, type Rule, storedRule } from '../engine/rules/index.ts'
import type { Trx } from '../platform/db/index.ts'
import type { FoundSet } from './find.ts'
import { ruleChange } from './outcomes.ts'
import {
  type Destination,
  deleteRule,
  findRule,
  forgetFaults,
  insertRule,
  insertVersion,
  listRules,
  lockRule,
  lockSet,
  numberRules,
  type RuleRow,
  updateRule,
  type VersionRow,
  versionsLength,
} from './queries.ts'

/** Place of a document in a body: the whole body, or a member of it. */
export type DocumentPlace = 'body' | 'rule'

function decodeDocument(ctx: Context, document: unknown, place: DocumentPlace) {
  const text = place === 'body' ? ctx.rawBody?.text : ctx.rawBody?.part(['rule'])
  return decodeRule(document, document === undefined ? undefined : text)
}

/** Every wrong part of a document, below the input member `rule`. */
export function issuesOfDocument(ctx: Context, document: unknown, place: DocumentPlace): InputIssue[] {
  // The input's schema reports a missing document.
  if (document === undefined) return []
  const decoded = decodeDocument(ctx, document, place)
  if ('rule' in decoded) return []
  // NUL in the name is already reported for every input (nulIssues), and each wrong part gets one item.
  const own = decoded.issues.filter(
    ({ path, code }) => !(path.join('/') === 'name' && code === 'not_allowed'),
  )
  return own.map((issue) => ({ ...issue, path: ['rule', ...issue.path] }))
}

/** Decodes a document to a rule. @throws DomainError `validation_failed` with every wrong part */
export function documentOf(ctx: Context, document: unknown, place: DocumentPlace): Rule {
  const decoded = decodeDocument(ctx, document, place)
  if ('rule' in decoded) return decoded.rule
  throw validationFailed(issuesOfDocument(ctx, document, place))
}

/** @throws DomainError `no_destination` when the endpoint has no forward action */
export function destinationOf({ destination }: FoundSet): Destination {
  if (destination !== null) return destination
  throw new DomainError(
    'no_destination',
    'The endpoint has no forward action for rules to shape: add one first.',
  )
}

/** The first rule of a set, for a write. @throws DomainError `no_destination` */
export function firstRuleOf(set: FoundSet & { rule: RuleRow | null }): RuleRow {
  destinationOf(set)
  if (set.rule === null) throw notFound('rule')
  return set.rule
}

/**
 * Adds a rule: version 1, enabled, last of its set.
 *
 * @throws DomainError `no_destination`, `limit_reached`, `validation_failed`
 */
export async function createRule(
  ctx: Context,
  set: FoundSet,
  document: unknown,
  place: DocumentPlace,
): Promise<RuleRow> {
  const rule = documentOf(ctx, document, place)
  const destination = destinationOf(set)
  const now = ctx.clock.now()
  return await ctx.db.transaction().execute(async (trx) => {
    if (!(await lockSet(trx, destination.id))) throw notFound('forward action')
    const { length } = await listRules(trx, destination.id)
    requireRoom(ctx.plan, 'rulesMax', length, 'rules for a destination')
    const row: RuleRow = {
      id: randomUUID(),
      workspaceId: ctx.workspace.id,
      endpointId: set.endpoint.id,
      actionId: destination.id,
      position: length + 1,
      name: rule.name,
      enabled: true,
      disabledReason: null,
      holdsDeliveries: false,
      version: 1,
      rule: rule.text,
      createdAt: now,
      updatedAt: now,
    }
    await insertRule(trx, row)
    await insertVersion(trx, {
      ruleId: row.id,
      version: 1,
      rule: rule.text,
      createdAt: now,
      restoredFrom: null,
    })
    await recordChange(trx, ctx, ruleChange('transformations.create', null, row))
    return row
  })
}

/** Members that a PUT may change; a request without both was refused before. */
export interface RuleChanges {
  readonly rule?: unknown
  readonly enabled?: boolean | undefined
}

/** Issues of a PUT. @throws DomainError `feature_not_in_plan` for a new document */
export function issuesOfChanges(ctx: Context, { rule, enabled }: RuleChanges): InputIssue[] {
  if (rule == null && enabled === undefined) {
    return [{ path: [], code: 'required', detail: 'At least one of "rule" and "enabled" is required.' }]
  }
  if (rule == null) return []
  requireFeature(ctx.plan, 'transformations')
  return issuesOfDocument(ctx, rule, 'rule')
}

/**
 * Saves a new document as the next version, switches the rule on or off, or both. A document equal to the current one
 * makes no version. Switching on clears the reason and the count of faults; a new document alone does not switch on.
 * Each of these releases deliveries that the rule holds after the service disabled it.
 *
 * @throws DomainError `not_found` when the rule was deleted meanwhile
 */
export async function changeRule(ctx: Context, { id }: RuleRow, changes: RuleChanges): Promise<RuleRow> {
  const rule = changes.rule == null ? undefined : documentOf(ctx, changes.rule, 'rule')
  const now = ctx.clock.now()
  return await changeLocked(ctx, id, 'update', async (trx, row) => {
    if (rule !== undefined && !sameDocument(row.rule, rule.text))
      await addVersion(trx, row, rule, { now, restoredFrom: null })
    if (changes.enabled !== undefined) await switchRule(trx, row, changes.enabled, now)
  })
}

/** Changes a rule under its lock. Deliveries that it held, and holds no more, are retried. */
async function changeLocked(
  ctx: Context,
  id: string,
  action: 'update' | 'restore',
  change: (trx: Trx, row: RuleRow) => Promise<void>,
): Promise<RuleRow> {
  return await ctx.db.transaction().execute(async (trx) => {
    const row = await lockRule(trx, id)
    if (row === undefined) throw notFound('rule')
    await change(trx, row)
    const changed = (await findRule(trx, row.endpointId, id)) ?? row
    if (row.holdsDeliveries && !changed.holdsDeliveries) await release(ctx, trx, row.actionId)
    await recordChange(trx, ctx, ruleChange(`transformations.${action}`, row, changed))
    return changed
  })
}

async function switchRule(trx: Trx, row: RuleRow, enabled: boolean, now: Date): Promise<void> {
  if (enabled) await forgetFaults(trx, [row.id])
  if (row.enabled === enabled && !row.holdsDeliveries) return
  await updateRule(trx, row.id, {
    enabled,
    holdsDeliveries: false,
    updatedAt: now,
    ...(enabled ? { disabledReason: null } : {}),
  })
}

/** The documents of all versions of a rule, in characters: one answer lists them all, and none is ever dropped. */
const VERSIONS_LENGTH_MAX = 4 * 1024 * 1024

/**
 * Adds the next version. The caller locks the rule.
 *
 * @throws DomainError `limit_reached` when the versions are too long together
 */
async function addVersion(
  trx: Trx,
  row: RuleRow,
  rule: Rule,
  { now, restoredFrom }: { readonly now: Date; readonly restoredFrom: number | null },
): Promise<void> {
  const version = row.version + 1
  if (version * DOCUMENT_LIMITS.bytes > VERSIONS_LENGTH_MAX) {
    const length = await versionsLength(trx, row.id)
    if (length + rule.text.length > VERSIONS_LENGTH_MAX)
      throw new DomainError(
        'limit_reached',
        'The versions of a rule have room for 4 MiB. To start anew, delete the rule and add it again.',
      )
  }
  await insertVersion(trx, { ruleId: row.id, version, rule: rule.text, createdAt: now, restoredFrom })
  const document = { version, rule: rule.text, name: rule.name }
  await updateRule(trx, row.id, { ...document, holdsDeliveries: false, updatedAt: now })
}

/** Retries deliveries that the action's rules have held, unless one of them still does. */
async function release(ctx: Context, trx: Trx, actionId: string): Promise<void> {
  const rules = await listRules(trx, actionId)
  if (!rules.some(({ holdsDeliveries }) => holdsDeliveries)) await ctx.releaseHeld(trx, actionId)
}

/** Restores an old version as a new one: history is never rewritten. */
export async function restoreVersion(
  ctx: Context,
  { id }: RuleRow,
  { version, rule }: VersionRow,
): Promise<RuleRow> {
  const now = ctx.clock.now()
  return await changeLocked(ctx, id, 'restore', (trx, row) =>
    addVersion(trx, row, storedRule(rule), { now, restoredFrom: version }),
  )
}

/** Deletes a rule; later positions move up. @throws DomainError `not_found` when the rule was deleted meanwhile */
export async function removeRule(ctx: Context, { id, actionId, endpointId }: RuleRow): Promise<void> {
  await ctx.db.transaction().execute(async (trx) => {
    await lockSet(trx, actionId)
    const row = await findRule(trx, endpointId, id)
    if (row === undefined) throw notFound('rule')
    await deleteRule(trx, row)
    if (row.holdsDeliveries) await release(ctx, trx, actionId)
    await recordChange(trx, ctx, ruleChange('transformations.remove', row, null))
  })
}

/**
 * Changes the order of a set.
 *
 * @param order every rule id of the set exactly once
 * @throws DomainError `no_destination`, `validation_failed`
 */
export async function orderRules(ctx: Context, set: FoundSet, order: readonly string[]): Promise<void> {
  const destination = destinationOf(set)
  await ctx.db.transaction().execute(async (trx) => {
    await lockSet(trx, destination.id)
    const rules = await listRules(trx, destination.id)
    const wanted = order.map((id) => id.toLowerCase())
    const issues = issuesOfOrder(wanted, rules)
    if (issues.length > 0) throw validationFailed(issues)
    await numberRules(trx, wanted)
    await recordChange(trx, ctx, {
      action: 'transformations.order',
      workspaceId: ctx.workspace.id,
      subject: { type: 'action', id: destination.id },
      endpointId: set.endpoint.id,
      before: { order: rules.map(({ id }) => id) },
      after: { order: wanted },
    })
  })
}

function issuesOfOrder(order: readonly string[], rules: readonly RuleRow[]): InputIssue[] {
  const known = new Set(rules.map(({ id }) => id))
  const seen = new Set<string>()
  const issues = order.flatMap((id, index): InputIssue[] => {
    const path = ['order', index]
    if (!known.has(id))
      return [{ path, code: 'unknown_value', detail: 'This is not the id of a rule of the set.' }]
    if (seen.has(id)) return [{ path, code: 'duplicate', detail: 'This rule stands in the order already.' }]
    seen.add(id)
    return []
  })
  const missing = rules.filter(({ id }) => !seen.has(id))
  if (missing.length === 0) return issues
  const names = missing.map(({ name }) => JSON.stringify(name)).join(', ')
  const detail = `The order must name every rule of the set once; ${names.slice(0, 200)} is missing.`
  return [{ path: ['order'], code: 'required', detail }, ...issues]
}
