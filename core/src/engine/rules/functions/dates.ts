import { type Instant, parseRfc3339 } from '../../conditions/index.ts'
import { Fault } from '../language/fault.ts'
import { asText } from '../language/values.ts'
import { define, optional, parameter } from './define.ts'
import { Decimal, type Kind, NUMBER, oneOf } from './parameters.ts'

/** Formatters that are kept: they are costly to make, and zones may come from bodies. */
const KEPT = 32
const formatters = new Map<string, Intl.DateTimeFormat>()

/** Whether a text names a time zone of the IANA database; false for offsets like `+01:00`. */
function isZone(zone: string): boolean {
  return zone.length <= 64 && /^[A-Za-z]/.test(zone) && formatterOf(zone) !== undefined
}

/**
 * The local time in a zone.
 *
 * @param at milliseconds since 1970
 * @returns `date` holds the local time in its UTC members
 */
function localTime(at: number, zone: string): { date: Date; offsetMinutes: number } {
  if (zone === 'UTC') return { date: new Date(at), offsetMinutes: 0 }
  const parts: Record<string, number> = {}
  for (const { type, value } of formatterOf(zone)?.formatToParts(at) ?? []) parts[type] = Number(value)
  const { year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  const wholeSecond = Math.floor(at / 1000) * 1000
  date.setUTCHours(hour, minute, second, at - wholeSecond)
  return { date, offsetMinutes: Math.round((date.getTime() - at) / 60_000) }
}

/** `+01:00`; `Z` for UTC. */
function offsetText(minutes: number): string {
  if (minutes === 0) return 'Z'
  const size = Math.abs(minutes)
  return `${minutes < 0 ? '-' : '+'}${digits(Math.floor(size / 60), 2)}:${digits(size % 60, 2)}`
}

function formatterOf(zone: string): Intl.DateTimeFormat | undefined {
  const known = formatters.get(zone)
  if (known !== undefined) return known
  try {
    const formatter = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'iso8601',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    if (formatters.size >= KEPT) formatters.clear()
    formatters.set(zone, formatter)
    return formatter
  } catch {
    return undefined
  }
}

/** A moment as text: RFC 3339 with an offset. */
const INSTANT: Kind<Instant> = {
  name: 'date-time',
  read: (value) => {
    const instant = parseRfc3339(asText(value))
    if (instant === undefined)
      throw new Fault('bad_date', 'The value must be a date-time with an offset, like 2026-11-21T09:15:00Z.')
    return instant
  },
}

const PATTERN: Kind<readonly string[]> = {
  name: 'pattern',
  read: (value) => {
    const pieces = patternPieces(asText(value))
    if ('unknown' in pieces) throw new Fault('bad_date', unknownLetters(pieces.unknown))
    return pieces.pieces
  },
  refuses: (literal) => {
    if (typeof literal !== 'string') return 'must be text like "yyyy-MM-dd"'
    const pieces = patternPieces(literal)
    return 'unknown' in pieces ? unknownLetters(pieces.unknown) : null
  },
}

const ZONE: Kind<string> = {
  name: 'IANA zone',
  read: (value) => {
    const zone = asText(value)
    if (!isZone(zone)) throw new Fault('bad_date', 'The time zone is not known.')
    return zone
  },
  refuses: (literal) =>
    literal === null || (typeof literal === 'string' && isZone(literal))
      ? null
      : 'must be an IANA time zone, like "Europe/Zurich"',
}

const unit = optional('unit', oneOf(['s', 'ms']), 's')
const t = parameter('t', INSTANT)
const n = parameter('n', NUMBER)

/** Functions of rules for instants, and `uuid`. Text that is not a date-time is a fault. */
export const DATE_FUNCTIONS = {
  now: define('text', [], 'The start of this attempt, ISO 8601 in UTC.', (_, { now }) => now.toISOString()),
  formatDate: define(
    'text',
    [t, parameter('pattern', PATTERN), optional('zone', ZONE, 'UTC')],
    'A date-time in words of your own: yyyy MM dd HH mm ss SSS XXX; all but letters stand for themselves.',
    ([instant, pieces, zone]) => formatted(instant, pieces, zone),
  ),
  toUnix: define(
    'number',
    [t, unit],
    'Whole seconds (or milliseconds) since 1970, rounded down.',
    ([instant, in_]) => (in_ === 's' ? instant.seconds : milliseconds(instant)),
  ),
  fromUnix: define(
    'text',
    [n, unit],
    'The date-time so many seconds (or milliseconds) after 1970, ISO 8601 in UTC.',
    ([number, in_]) => isoText(number.times(in_ === 's' ? 1000 : 1)),
  ),
  addSeconds: define(
    'text',
    [t, n],
    'The date-time so many seconds later, ISO 8601 in UTC.',
    ([instant, number]) => isoText(number.times(1000).plus(milliseconds(instant))),
  ),
  uuid: define(
    'text',
    [],
    'A UUID of version 5 over request, action, rule and step: the same on every attempt.',
    (_, facts) => facts.uuid(),
  ),
}

function milliseconds({ seconds, fraction }: Instant): number {
  return seconds * 1000 + Number(fraction.slice(0, 3).padEnd(3, '0'))
}

const FIRST = Date.parse('0000-01-01T00:00:00Z')
const LAST = Date.parse('9999-12-31T23:59:59.999Z')

function isoText(sinceEpoch: Decimal): string {
  return new Date(inRange(new Decimal(sinceEpoch).floor().toNumber())).toISOString()
}

function inRange(at: number): number {
  if (at < FIRST || at > LAST) throw new Fault('bad_date', 'The date is not in the years 0000 to 9999.')
  return at
}

/** The text for each group of letters of a pattern. */
const TOKENS: Readonly<Record<string, (local: ReturnType<typeof localTime>) => string>> = {
  yyyy: ({ date }) => digits(date.getUTCFullYear(), 4),
  MM: ({ date }) => digits(date.getUTCMonth() + 1, 2),
  dd: ({ date }) => digits(date.getUTCDate(), 2),
  HH: ({ date }) => digits(date.getUTCHours(), 2),
  mm: ({ date }) => digits(date.getUTCMinutes(), 2),
  ss: ({ date }) => digits(date.getUTCSeconds(), 2),
  SSS: ({ date }) => digits(date.getUTCMilliseconds(), 3),
  XXX: ({ offsetMinutes }) => offsetText(offsetMinutes),
}
const TOKEN = new RegExp(Object.keys(TOKENS).join('|'), 'g')

function patternPieces(pattern: string): { pieces: readonly string[] } | { unknown: string } {
  const pieces = pattern.match(/[A-Za-z]+|[^A-Za-z]+/g) ?? []
  const split: string[] = []
  for (const piece of pieces) {
    if (!/^[A-Za-z]/.test(piece)) {
      split.push(piece)
      continue
    }
    const tokens = piece.match(TOKEN) ?? []
    if (tokens.join('') !== piece) return { unknown: piece }
    split.push(...tokens)
  }
  return { pieces: split }
}

function unknownLetters(letters: string): string {
  return `"${letters.slice(0, 20)}" is not made of ${Object.keys(TOKENS).join(', ')}; other letters are added with concat`
}

function formatted(instant: Instant, pieces: readonly string[], zone: string): string {
  const local = localTime(inRange(milliseconds(instant)), zone)
  return pieces.map((piece) => TOKENS[piece]?.(local) ?? piece).join('')
}

function digits(number: number, length: number): string {
  return String(number).padStart(length, '0')
}
