import type { Change } from '../audit/index.ts'
import type { RuleRow } from './queries.ts'
import { ruleView } from './view.ts'

/** What the audit log tells of a change of a rule. */
export function ruleChange(action: string, before: RuleRow | null, after: RuleRow | null): Change {
  const { id = '', name = '', workspaceId = null, endpointId = null } = after ?? before ?? {}
  return {
    action,
    workspaceId,
    subject: { type: 'rule', id, name },
    endpointId,
    before: before && ruleView(before),
    after: after && ruleView(after),
  }
}
