import type { InputIssue } from '../issues.ts'
import { isJsonArray, isJsonNumber, type JsonValue } from '../json/index.ts'
import { CONDITION_BOUNDS, type ConditionOp } from './condition.ts'
import { parseInstant } from './instants.ts'
import { likeParts } from './textSearch.ts'

/** Issues of a leaf's `value` for its op; paths start at the value. */
export function issuesOfValue(op: ConditionOp, value: JsonValue): InputIssue[] {
  switch (op) {
    case 'eq':
    case 'neq':
    case 'contains':
      return issuesOfText(value, [])
    case 'in':
    case 'nin':
      return issuesOfList(op, value)
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return issuesOfOrder(op, value)
    case 'startsWith':
    case 'endsWith':
      return typeof value === 'string' ? issuesOfText(value, []) : [wrongType(`"${op}" compares with text.`)]
    case 'like':
      return issuesOfPattern(value)
    case 'exists':
      return typeof value === 'boolean' ? [] : [wrongType('"exists" takes true (the default) or false.')]
  }
}

function issuesOfText(value: JsonValue, path: readonly number[]): InputIssue[] {
  if (typeof value !== 'string' || !isLonger(value, CONDITION_BOUNDS.textLength)) return []
  const detail = `A text to compare with has at most ${CONDITION_BOUNDS.textLength} characters.`
  return [{ path, code: 'too_long', detail }]
}

function issuesOfList(op: string, value: JsonValue): InputIssue[] {
  if (!isJsonArray(value)) return [wrongType(`"${op}" takes a list of values.`)]
  if (value.length > CONDITION_BOUNDS.listItems) {
    const detail = `"${op}" takes at most ${CONDITION_BOUNDS.listItems} values.`
    return [{ path: [], code: 'too_many', detail }]
  }
  return value.flatMap((item, index) => issuesOfText(item, [index]))
}

function issuesOfOrder(op: string, value: JsonValue): InputIssue[] {
  if (isJsonNumber(value)) return []
  if (typeof value !== 'string') return [wrongType(`"${op}" compares with a number or a date-time.`)]
  if (parseInstant(value) !== undefined) return []
  const detail = `"${op}" compares with a number or a date-time with offset, like "2026-11-21T09:15:00Z".`
  return [{ path: [], code: 'bad_format', detail }]
}

function issuesOfPattern(value: JsonValue): InputIssue[] {
  if (typeof value !== 'string')
    return [wrongType('"like" compares with text, in which * is any run of characters.')]
  if (isLonger(value, CONDITION_BOUNDS.likeLength)) {
    const detail = `A pattern has at most ${CONDITION_BOUNDS.likeLength} characters.`
    return [{ path: [], code: 'too_long', detail }]
  }
  if (likeParts(value).length - 1 <= CONDITION_BOUNDS.likeStars) return []
  const detail = `A pattern has at most ${CONDITION_BOUNDS.likeStars} stars; \\* is a literal star.`
  return [{ path: [], code: 'too_many', detail }]
}

function wrongType(detail: string): InputIssue {
  return { path: [], code: 'type', detail }
}

/** Counts characters as JSON Schema does: code points. */
function isLonger(text: string, length: number): boolean {
  return text.length > length && [...text].length > length
}
