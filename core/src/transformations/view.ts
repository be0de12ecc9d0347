import type { z } from 'zod'
import type { Context } from '../api/context.ts'
import { hasFeature } from '../api/planGates.ts'
import { describeCondition } from '../engine/conditions/index.ts'
import { shownJson } from '../engine/json/index.ts'
import { storedRule } from '../engine/rules/index.ts'
import type { FoundSet } from './find.ts'
import { listRules, type RuleRow, type VersionRow } from './queries.ts'
import type {
  FirstTransformationRule,
  RuleVersions,
  TransformationRuleView,
  TransformationSet,
} from './schema.ts'

/** A stored rule in the API's format, with its condition also in plain English. */
export function ruleView(row: RuleRow): z.input<typeof TransformationRuleView> {
  return {
    id: row.id,
    position: row.position,
    name: row.name,
    enabled: row.enabled,
    disabledReason: row.disabledReason,
    holdsDeliveries: row.holdsDeliveries,
    condition: describeCondition(storedRule(row.rule).when),
    rule: shownJson(row.rule),
    version: row.version,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  }
}

/** The view of the singular routes. */
export async function firstRuleView(
  ctx: Context,
  row: RuleRow,
): Promise<z.input<typeof FirstTransformationRule>> {
  const rules = await listRules(ctx.db, row.actionId)
  return { ...ruleView(row), ruleId: row.id, ruleCount: rules.length }
}

/** The rules of a destination in their order, with the plan's limits; no rules if there is no destination. */
export async function setView(
  ctx: Context,
  { endpoint, destination }: FoundSet,
): Promise<z.input<typeof TransformationSet>> {
  const rules = destination === null ? [] : await listRules(ctx.db, destination.id)
  return {
    endpointId: endpoint.id,
    destinationId: destination?.id ?? null,
    destinationUrl: destination?.url ?? null,
    rules: rules.map(ruleView),
    maxRules: ctx.plan.limits.rulesMax,
    featureInPlan: hasFeature(ctx.plan, 'transformations'),
    schemaUrl: `${ctx.urls.baseUrl}/api/v1/transformations/schema`,
  }
}

/** Stored versions in the API's format, in the given order. */
export function versionsView(rows: readonly VersionRow[]): z.input<typeof RuleVersions> {
  return {
    items: rows.map(({ version, rule, createdAt, restoredFrom }) => ({
      version,
      rule: shownJson(rule),
      createdAt,
      restoredFrom,
    })),
  }
}
