import type { InputIssue } from '../issues.ts'
import { isPlainObject } from '../json/index.ts'
import { decodeStoreRule, type Rule } from '../rules/index.ts'

/** The most rules for storing of an endpoint. */
const STORE_RULES_MAX = 10
/** The most names of headers that an endpoint drops. */
export const DROP_HEADERS_MAX = 100

/**
 * Reads rules for storing.
 *
 * @param list rule documents, or the steps of a single rule without a condition
 * @returns the rules in their order, or every wrong part; paths of issues start at the list
 */
export function parseStoreRules(
  list: readonly unknown[],
): { readonly rules: readonly Rule[] } | { readonly issues: InputIssue[] } {
  if (list.length === 0) return { rules: [] }
  if (list.every(isStep)) {
    const decoded = decodeStoreRule({ steps: list })
    if ('rule' in decoded) return { rules: [decoded.rule] }
    return { issues: decoded.issues.map((issue) => ({ ...issue, path: issue.path.slice(1) })) }
  }
  if (list.length > STORE_RULES_MAX) {
    const detail = `At most ${STORE_RULES_MAX} rules are allowed.`
    return { issues: [{ path: [], code: 'too_many', detail }] }
  }
  const decoded = list.map((document) => decodeStoreRule(document))
  const issues = decoded.flatMap((each, index) =>
    'issues' in each ? each.issues.map((issue) => ({ ...issue, path: [index, ...issue.path] })) : [],
  )
  if (issues.length > 0) return { issues }
  return { rules: decoded.flatMap((each) => ('rule' in each ? [each.rule] : [])) }
}

function isStep(item: unknown): boolean {
  return isPlainObject(item) && 'op' in item && !('steps' in item)
}
