import { type Change, changeOf } from '../audit/index.ts'
import type { RuleRow } from './queries.ts'
import { ruleView } from './view.ts'

/** A rule's change for the audit log. */
export function ruleChange(action: string, before: RuleRow | null, after: RuleRow | null): Change {
  return changeOf(['rule', action], before, after, ruleView)
}
