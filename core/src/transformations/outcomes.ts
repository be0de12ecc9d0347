import type { z } from 'zod'
import { type Named, raiseSingle } from '../alerts/index.ts'
import type { Context } from '../api/context.ts'
import { hasFeature } from '../api/planGates.ts'
import type { Services } from '../api/services.ts'
import { type Change, changeOf, recordChange } from '../audit/index.ts'
import { describeCondition } from '../engine/conditions/index.ts'
import { shownJson } from '../engine/json/index.ts'
import { opsTakingOut, storedRule } from '../engine/rules/index.ts'
import type { Trx } from '../platform/db/index.ts'
import type { FoundSet } from './find.ts'
import {
  forgetFaults,
  listRules,
  lockRule,
  noteFault,
  type RuleRow,
  updateRule,
  type VersionRow,
} from './queries.ts'
import type { RuleEnd } from './ruleSets.ts'
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
    items: rows.map((row) => ({ ...row, rule: shownJson(row.rule) })),
  }
}

/** A rule's change for the audit log. */
export function ruleChange(action: string, before: RuleRow | null, after: RuleRow | null): Change {
  return changeOf(['rule', action], before, after, ruleView)
}

/** Faults on this many distinct requests in a row disable a rule. */
const FAULTS_MAX = 5

export interface RuleOutcome {
  readonly workspaceId: string
  readonly endpoint: Named
  readonly requestId: number
  readonly ends: readonly RuleEnd[]
}

/**
 * Counts faults, and resets the count of rules that ran without one. At the fifth fault disables the rule and raises
 * `transformation.disabled`. The counts are stored in the database, so restarts and other workers share them.
 *
 * A disabled rule that removes data holds its action's deliveries from then on, until a user decides; any other is
 * skipped.
 */
export async function recordRuleOutcomes(
  services: Pick<Services, 'clock' | 'enqueue' | 'actor'>,
  trx: Trx,
  outcomes: readonly RuleOutcome[],
): Promise<void> {
  const all = outcomes.flatMap((outcome) => outcome.ends.map((end) => ({ ...outcome, ...end })))
  const byRule = Map.groupBy(all, ({ rule }) => rule.id)
  const faulty: string[] = []
  const fine: string[] = []
  for (const [id, ends] of byRule) (ends.some(({ fault }) => fault !== null) ? faulty : fine).push(id)
  // Sorted, so that two workers never deadlock.
  await forgetFaults(trx, fine.sort())
  for (const id of faulty.sort()) {
    const row = await lockRule(trx, id)
    if (row === undefined) continue
    for (const end of byRule.get(id) ?? []) {
      // A later version has its own count.
      if (end.rule.version !== row.version) continue
      if (end.fault === null) await forgetFaults(trx, [id])
      else if (
        end.fault.counted &&
        (await noteFault(trx, id, end.requestId, services.clock.now())) >= FAULTS_MAX
      ) {
        await switchOff(services, trx, row, { ...end, code: end.fault.code })
        break
      }
    }
  }
}

async function switchOff(
  services: Pick<Services, 'clock' | 'enqueue' | 'actor'>,
  trx: Trx,
  row: RuleRow,
  { workspaceId, endpoint, requestId, code }: Omit<RuleOutcome, 'ends'> & { readonly code: string },
): Promise<void> {
  if (!row.enabled) return
  const ops = opsTakingOut(storedRule(row.rule))
  const cause = `Switched off by the service: it faulted on ${FAULTS_MAX} requests in a row, last with ${code}.`
  const disabledReason = `${cause} ${consequenceOf(ops)}`
  const off = { enabled: false, disabledReason, holdsDeliveries: ops.length > 0 }
  await updateRule(trx, row.id, { ...off, updatedAt: services.clock.now() })
  await recordChange(trx, services, ruleChange('transformations.disable', row, { ...row, ...off }))
  await raiseSingle(services, trx, {
    kind: 'transformation.disabled',
    workspaceId,
    subject: { id: row.id, name: row.name },
    endpoint,
    requestId,
    reason: disabledReason,
  })
}

/** Explains the effect on deliveries, and the next step. */
function consequenceOf(ops: readonly string[]): string {
  if (ops.length === 0) return 'Deliveries continue without it.'
  return `It has ${ops.join(', ')} steps, so deliveries of its action are held, unsent, until you enable, edit, delete or switch off this rule; enabled or edited, they are retried at once.`
}
