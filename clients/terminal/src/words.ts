import { readFile } from 'node:fs/promises'
import { InvalidArgumentError } from 'commander'
import { cannotRead, usageError } from './clientError.ts'

const DAY_MS = 86_400_000
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: DAY_MS }

/** `20s`, `10m`, `1.5h` or `2d` in milliseconds; a bare number counts seconds. Undefined for anything else. */
export function milliseconds(text: string): number | undefined {
  const [, count = '', unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text) ?? []
  const factor = UNIT_MS[unit]
  return count === '' || factor === undefined ? undefined : Math.round(Number(count) * factor)
}

/** For commander: a span of time, in milliseconds. */
export function spanOption(text: string): number {
  const span = milliseconds(text)
  if (span === undefined) throw new InvalidArgumentError('Give a duration like 20s, 10m, 2h or 1d.')
  return span
}

/** A timer counts at most 2^31 milliseconds, a little more than this. */
const TIMEOUT_DAYS_MAX = 24

/** For commander: how long an answer may take, in milliseconds. */
export function timeoutOption(text: string): number {
  const span = spanOption(text)
  if (span > 0 && span <= TIMEOUT_DAYS_MAX * DAY_MS) return span
  throw new InvalidArgumentError(`Give a duration of more than 0s, and at most ${TIMEOUT_DAYS_MAX}d.`)
}

/** For commander: a whole number of seconds, minutes, hours or days with its unit, in seconds. */
export function durationSeconds(text: string): number {
  const span = /^\d{1,7}[smhd]$/.test(text) ? milliseconds(text) : undefined
  if (span === undefined) throw new InvalidArgumentError('Give a duration like 90s, 15m, 12h or 30d.')
  return span / 1000
}

/** For commander: a whole number from 1 on. */
export function countOption(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('Give a whole number of at least 1.')
  return Number(text)
}

/** For commander: the id of a request, which may be written `#12`. */
export function requestIdOption(text: string): number {
  return countOption(text.replace(/^#/, ''))
}

/** For commander: one more id of a request. A wrong id is refused here, because commander would not report it while a command runs. */
export function requestIdsOption(text: string, before: readonly number[] = []): readonly number[] {
  return [...before, requestIdOption(text)]
}

/**
 * Parses a moment into the API's format: `10m` ago, `now`, a date or a timestamp. Undefined for anything else.
 *
 * @param now in milliseconds since 1970
 */
export function momentOf(text: string, now: number): string | undefined {
  if (text === 'now') return new Date(now).toISOString()
  const ago = /[a-z]$/.test(text) ? milliseconds(text) : undefined
  if (ago !== undefined) return timestampOf(now - ago)
  const [day] = /^\d{4}-\d{2}-\d{2}(?=[T ]|$)/.exec(text) ?? []
  // A day that its month does not have would be one of the next month.
  if (day === undefined || timestampOf(Date.parse(day))?.slice(0, day.length) !== day) return undefined
  return timestampOf(Date.parse(text.replace(' ', 'T')))
}

/** Undefined for a time that is not one, or that no date reaches. */
function timestampOf(time: number): string | undefined {
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}

/**
 * Like `momentOf`, but requires a valid moment.
 *
 * @throws ClientError naming the option
 */
export function requiredMoment(text: string, option: string, now = Date.now()): string {
  const moment = momentOf(text, now)
  if (moment !== undefined) return moment
  throw cannotRead(option, text, 'Give a time like 10m, 2h, 2026-11-01 or 2026-11-01T08:00Z.')
}

/**
 * The text of a file, `-` for stdin.
 *
 * @throws ClientError when it cannot be read
 */
export async function textOfFile(file: string): Promise<string> {
  return await (file === '-' ? Bun.stdin.text() : readFile(file, 'utf8')).catch((error: Error) => {
    throw usageError(`${file} cannot be read: ${error.message}`)
  })
}

/** Parses a typed value: as JSON if it is valid JSON, else as text. */
export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/**
 * Parses texts of the form `name=value`; the value is JSON if valid, else text.
 *
 * @param example a valid assignment
 * @throws ClientError for a text that is not an assignment
 */
export function assignments(texts: readonly string[], example: string): Record<string, unknown> {
  const assigned: Record<string, unknown> = {}
  for (const text of texts) {
    const at = text.indexOf('=')
    if (at < 1) throw cannotRead('--set', text, `Write it like ${example}.`)
    assigned[text.slice(0, at)] = jsonOrText(text.slice(at + 1))
  }
  return assigned
}

/** The members that have a value. */
export const given = (members: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))

/** The first items of a list that is read as far as it is needed. */
export async function firstOf<Item>(items: AsyncIterable<Item>, count: number): Promise<Item[]> {
  const first: Item[] = []
  for await (const item of items) {
    first.push(item)
    if (first.length >= count) break
  }
  return first
}
