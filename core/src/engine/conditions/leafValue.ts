import { type InputIssue, isLonger } from '../issues.ts'
import { isJsonArray, isJsonNumber, type JsonValue } from '../json/index.ts'
import { CONDITION_BOUNDS, type ConditionOp } from './condition.ts'
import { likeParts } from './textSearch.ts'

const INSTANT =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,30}))?)?(?:[Zz]|([+-])(\d{2}):(\d{2})))?$/
/** Strict RFC 3339: date, time to the second, offset. */
const IS_RFC3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}/

/** A moment: whole seconds since 1970 and the digits of the fraction, so that nanoseconds still compare. */
export interface Instant {
  readonly seconds: number
  /** Without trailing zeros, `''` for none: comparing as text compares as numbers. */
  readonly fraction: string
}

/** Reads strict RFC 3339; undefined for anything else, impossible dates included. */
export function parseRfc3339(text: string): Instant | undefined {
  return IS_RFC3339.test(text) ? parseInstant(text) : undefined
}

/** The first whole millisecond since 1970 that is not before the moment. */
export function millisecondsOf({ seconds, fraction }: Instant): number {
  return seconds * 1000 + Number(fraction.slice(0, 3).padEnd(3, '0')) + (fraction.length > 3 ? 1 : 0)
}

/**
 * Reads RFC 3339, and also a date alone (midnight UTC) and minutes without seconds; undefined for anything else,
 * impossible dates included.
 */
export function parseInstant(text: string): Instant | undefined {
  const found = INSTANT.exec(text)
  if (found === null) return undefined
  const [
    ,
    year,
    month,
    day,
    hour = '0',
    minute = '0',
    second = '0',
    fraction = '',
    sign,
    offsetHour = '0',
    offsetMinute = '0',
  ] = found
  const [Y, M, D, h, m, s] = [year, month, day, hour, minute, second].map(Number)
  if (Y === undefined || M === undefined || D === undefined) return undefined
  if (h === undefined || m === undefined || s === undefined) return undefined
  // A leap second is the first of the next minute.
  if (h > 23 || m > 59 || s > 60 || Number(offsetHour) > 23 || Number(offsetMinute) > 59) return undefined
  const date = new Date(0)
  date.setUTCFullYear(Y, M - 1, D)
  if (date.getUTCMonth() !== M - 1 || date.getUTCDate() !== D) return undefined
  const offset = (Number(offsetHour) * 60 + Number(offsetMinute)) * (sign === '-' ? -60 : 60)
  return {
    seconds: date.getTime() / 1000 + h * 3600 + m * 60 + s - offset,
    fraction: fraction.replace(/0+$/, ''),
  }
}

/** Negative when `left` is earlier, zero when they are one moment, positive when it is later. */
export function compareInstants(left: Instant, right: Instant): number {
  if (left.seconds !== right.seconds) return left.seconds - right.seconds
  return left.fraction < right.fraction ? -1 : left.fraction > right.fraction ? 1 : 0
}

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
