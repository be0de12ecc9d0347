import { z } from 'zod'
import type { Finds } from '../api/contract.ts'
import { foundById, notFound } from '../api/errors.ts'
import { type EndpointRow, findsEndpoint } from '../endpoints/index.ts'
import {
  type Destination,
  findDestination,
  findRule,
  findVersion,
  listRules,
  type RuleRow,
  type VersionRow,
} from './queries.ts'

/** The endpoint of the path and the destination of the rule set; null if the endpoint has no forward action. */
export interface FoundSet {
  readonly endpoint: EndpointRow
  readonly destination: Destination | null
}

/**
 * Finds the rule set of the path, or of `actionId`.
 *
 * @throws DomainError `not_found` for an unknown endpoint or forward action
 */
export const findsSet: Finds<FoundSet> = async (ctx, ids) => {
  const { endpoint } = await findsEndpoint(ctx, ids)
  const actionId = namedAction(ids.actionId)
  const destination = await findDestination(ctx.db, endpoint.id, actionId)
  if (destination === undefined && actionId !== undefined) throw notFound('forward action')
  return { endpoint, destination: destination ?? null }
}

/**
 * Finds the rule of the path, anywhere on the endpoint. If `actionId` names another destination than the rule's, the
 * rule is not found.
 *
 * @throws DomainError `not_found`
 */
export const findsRule: Finds<FoundSet & { rule: RuleRow }> = async (ctx, ids) => {
  const set = await findsSet(ctx, ids)
  const rule = await foundById(ids.ruleId, 'rule', (id) => findRule(ctx.db, set.endpoint.id, id))
  if (namedAction(ids.actionId) !== undefined && set.destination?.id !== rule.actionId) throw notFound('rule')
  return { ...set, rule }
}

/** @throws DomainError `not_found`, also for a version that never existed */
export const findsVersion: Finds<FoundSet & { rule: RuleRow; restored: VersionRow }> = async (ctx, ids) => {
  const found = await findsRule(ctx, ids)
  const version = /^[1-9]\d{0,8}$/.test(ids.n ?? '') ? Number(ids.n) : undefined
  const restored = version === undefined ? undefined : await findVersion(ctx.db, found.rule.id, version)
  if (restored === undefined) throw notFound('version')
  return { ...found, restored }
}

/** Finds the first rule of the set, to be read. @throws DomainError `not_found` for an empty set */
export const findsFirstRule: Finds<FoundSet & { rule: RuleRow }> = async (ctx, ids) => {
  const set = await findsSet(ctx, ids)
  const [rule] = set.destination === null ? [] : await listRules(ctx.db, set.destination.id)
  if (rule === undefined) throw notFound('rule')
  return { ...set, rule }
}

/**
 * Finds the first rule of the set, to be written. Null if there is no forward action: that is a conflict, which is
 * reported only after validation.
 *
 * @throws DomainError `not_found` for the empty set of a forward action
 */
export const findsFirstRuleToWrite: Finds<FoundSet & { rule: RuleRow | null }> = async (ctx, ids) => {
  const set = await findsSet(ctx, ids)
  if (set.destination === null) return { ...set, rule: null }
  const [rule] = await listRules(ctx.db, set.destination.id)
  if (rule === undefined) throw notFound('rule')
  return { ...set, rule }
}

/** The id, if it is well-formed. A malformed id in the query is not a 404: validation refuses it. */
function namedAction(text: string | undefined): string | undefined {
  const id = z.guid().safeParse(text)
  return id.success ? id.data : undefined
}
