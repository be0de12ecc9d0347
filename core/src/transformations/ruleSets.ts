import type { Selectable } from 'kysely'
import { type RunInput, runRules, type TransformedRequest } from '../engine/rules/execution/index.ts'
import { type FaultCode, storedRule } from '../engine/rules/index.ts'
import type { Db, DeliveryAttemptsTable } from '../platform/db/index.ts'
import { listRulesOf, type RuleRow } from './queries.ts'

type RuleState = Pick<RuleRow, 'id' | 'name' | 'version' | 'enabled' | 'disabledReason' | 'holdsDeliveries'>

/** A saved rule at the start of an attempt, with its stored document. */
interface SavedRule extends Readonly<RuleState> {
  readonly text: string
}

/** The rules of a destination in their order, including disabled ones. */
export type RuleSet = readonly SavedRule[]

/** The set of a destination without rules. */
export const NO_RULE_SET: RuleSet = []

export async function loadRuleSets(db: Db, actionIds: readonly string[]): Promise<Map<string, RuleSet>> {
  if (actionIds.length === 0) return new Map()
  const rows = await listRulesOf(db, [...new Set(actionIds)])
  return Map.groupBy(
    rows.map(({ rule, ...row }) => ({ ...row, text: rule })),
    ({ actionId }) => actionId,
  )
}

/** Results for an attempt's row: whether a rule matched, and the version if exactly one rule was enabled. */
export type RulesApplied = Readonly<
  Pick<Selectable<DeliveryAttemptsTable>, 'transformed' | 'transformationVersion' | 'transformNote'>
>

/** An attempt of an action without rules. */
export const NO_RULES: RulesApplied = { transformed: false, transformationVersion: null, transformNote: null }

/** Result of one rule of a set; unmatched rules, and those after a fault, have none. */
export interface RuleEnd {
  readonly rule: SavedRule
  /** Null if it ran without a fault. */
  readonly fault: { readonly code: FaultCode; readonly counted: boolean } | null
}

/** Result of a set of rules on a request, with the columns of the attempt's row. */
export interface SetResult {
  /** Null if a rule faulted or holds deliveries: nothing may be sent. */
  readonly output: TransformedRequest | null
  /** The attempt's `error`; null if something is sent. */
  readonly error: string | null
  readonly applied: RulesApplied
  readonly ends: readonly RuleEnd[]
}

/**
 * Runs the enabled rules of a set, top to bottom. A rule that removes data and was disabled by the service blocks
 * everything. Never throws: a fault is a result.
 */
export function applyRules(set: RuleSet, input: RunInput): SetResult {
  const holding = set.find(({ holdsDeliveries }) => holdsDeliveries)
  if (holding !== undefined) return heldBy(holding, set)
  const inForce = set.filter(({ enabled }) => enabled)
  const { rules, output } = runRules(
    inForce.map(({ id, text }) => ({ key: id, rule: storedRule(text) })),
    input,
  )
  const ends = inForce.flatMap((rule, index): RuleEnd[] => {
    const report = rules[index]
    if (report === undefined || (!report.matched && report.fault === null)) return []
    return [{ rule, fault: report.fault }]
  })
  const faulted = ends.find(({ fault }) => fault !== null)
  return {
    output,
    error:
      faulted === undefined
        ? null
        : `rule_fault: rule '${faulted.rule.name}' v${faulted.rule.version} faulted: ${faulted.fault?.code}`,
    applied: appliedOf(set, inForce, ends),
    ends: faulted === undefined ? ends : ends.slice(0, ends.indexOf(faulted) + 1),
  }
}

function heldBy({ name, version }: SavedRule, set: RuleSet): SetResult {
  return {
    output: null,
    error: `rule_disabled: rule '${name}' v${version}`,
    applied: {
      ...NO_RULES,
      transformNote: set.map((rule) => describedAs(rule, wordsOf(rule, undefined, true))).join('; '),
    },
    ends: [],
  }
}

function describedAs({ name, version }: SavedRule, words: string): string {
  return `'${name}' v${version} ${words}`
}

function appliedOf(set: RuleSet, inForce: RuleSet, ends: readonly RuleEnd[]): RulesApplied {
  const [only] = inForce
  const isOne = inForce.length === 1 && set.length === 1
  return {
    transformed: ends.length > 0,
    transformationVersion: inForce.length === 1 ? (only?.version ?? null) : null,
    transformNote: set.length === 0 || isOne ? null : noteOf(set, ends),
  }
}

function noteOf(set: RuleSet, ends: readonly RuleEnd[]): string {
  const faultedAt = set.findIndex((rule) => ends.some((end) => end.rule === rule && end.fault !== null))
  return set
    .map((rule, index) => {
      const end = ends.find((each) => each.rule === rule)
      return describedAs(rule, wordsOf(rule, end, faultedAt !== -1 && index > faultedAt))
    })
    .join('; ')
}

function wordsOf(rule: SavedRule, end: RuleEnd | undefined, isAfterFault: boolean): string {
  if (rule.holdsDeliveries) return 'switched off by the service: deliveries are held'
  if (!rule.enabled)
    return rule.disabledReason === null ? 'skipped: switched off' : 'skipped: switched off by the service'
  if (end !== undefined) return end.fault === null ? 'applied' : `faulted: ${end.fault.code}`
  return isAfterFault ? 'not run' : 'did not match'
}
