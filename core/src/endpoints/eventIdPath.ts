import type { InputIssue } from '../engine/issues.ts'
import { parseEventIdPath } from '../engine/verification/index.ts'

/** Checks the path to the event ids of an endpoint; `''` clears it, undefined changes nothing. */
export function checkEventIdPath(path: string | undefined): InputIssue[] {
  if (path === undefined || path === '') return []
  const parsed = parseEventIdPath(path)
  if ('path' in parsed) return []
  const { code, reason } = parsed.problem
  return [{ path: ['eventIdPath'], code, detail: reason }]
}
