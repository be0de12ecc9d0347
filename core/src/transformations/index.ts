export { type RuleOutcome, recordRuleOutcomes } from './outcomes.ts'
export {
  applyRules,
  loadRuleSets,
  NO_RULE_SET,
  NO_RULES,
  type RuleEnd,
  type RuleSet,
  type RulesApplied,
  type SetResult,
} from './ruleSets.ts'
export { ruleTurns } from './ruleTurns.ts'
