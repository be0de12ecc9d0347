export { recordRuleOutcomes } from './outcomes.ts'
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
export { createRuleTurns, ruleTurns } from './ruleTurns.ts'
export { issuesOfSource, previewRequest } from './sample.ts'
export { previewedRequestInput } from './schema.ts'
