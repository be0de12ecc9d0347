import { type Change, changeOf } from '../audit/index.ts'
import type { RuleRow } from './queries.ts'
import { ruleView } from './view.ts'

/** What the audit log tells of a change of a rule. */
export function ruleChange(action: string, before: RuleRow | null, after: RuleRow | null): Change {
  return changeOf(['rule', action], before, after, ruleView)
}
