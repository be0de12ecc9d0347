import { ALWAYS, type Condition, parseCondition } from '../engine/conditions/index.ts'
import type { InputIssue } from '../engine/issues.ts'
import { canonicalJson, memberText, parseJson } from '../engine/json/index.ts'

/**
 * Reads `match` as a client sent it.
 *
 * @param rawBody the request body, which keeps number spelling and key order; null when it did not come as text
 */
export function parseMatch(
  match: unknown,
  rawBody: string | null,
): { readonly condition: Condition } | { readonly issues: readonly InputIssue[] } {
  if (match === undefined) return { condition: ALWAYS }
  const parsed = parseCondition(match, memberText(rawBody, ['match']))
  if ('condition' in parsed) return parsed
  return { issues: parsed.issues.map((issue) => ({ ...issue, path: ['match', ...issue.path] })) }
}

/** Reads the `match` query parameter of the suggest route: JSON text. */
export function parseMatchText(
  text: string | undefined,
): { readonly condition: Condition } | { readonly issues: readonly InputIssue[] } {
  if (text === undefined) return { condition: ALWAYS }
  if (parseJson(text) === undefined) {
    return { issues: [{ path: ['match'], code: 'bad_format', detail: 'match must be JSON text.' }] }
  }
  const parsed = parseCondition(undefined, text)
  if ('condition' in parsed) return parsed
  // A query parameter is one input: the path into its text would point nowhere.
  return { issues: parsed.issues.map((issue) => ({ ...issue, path: ['match'] })) }
}

/** A condition that was checked already. */
export function matchOf(parsed: ReturnType<typeof parseMatch>): Condition {
  if ('condition' in parsed) return parsed.condition
  throw new Error('A match reached the use case unchecked.')
}

/** What equal criteria share: canonical text of the condition (RFC 8785). */
export function criteriaText(condition: Condition): string {
  const read = parseJson(condition.text)
  return read === undefined ? condition.text : canonicalJson(read.value)
}
