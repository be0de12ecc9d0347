const DATE = { day: 'numeric', month: 'short' } as const
const YEAR = { ...DATE, year: 'numeric' } as const
const TIME = { hour: '2-digit', minute: '2-digit' } as const
const CLOCK = new Intl.DateTimeFormat('en-GB', { ...TIME, second: '2-digit' })
const DAY = new Intl.DateTimeFormat('en-GB', { ...DATE, ...TIME })
const DAY_OF_YEAR = new Intl.DateTimeFormat('en-GB', { ...YEAR, ...TIME })
const WEEKDAY = new Intl.DateTimeFormat('en-GB', { ...YEAR, weekday: 'short' })
const FULL = new Intl.DateTimeFormat('en-GB', {
  ...YEAR,
  ...TIME,
  weekday: 'short',
  second: '2-digit',
  fractionalSecondDigits: 3,
  timeZoneName: 'short',
})
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'narrow' })

/**
 * An ISO timestamp for lists: `14:03:22` today, else `21 Nov 14:03`, or `21 Nov 2025 14:03` of another year. It always
 * has the time of day, and the date unless it is today's.
 */
export function clock(at: string, now = Date.now()): string {
  const date = new Date(at)
  const today = new Date(now)
  if (date.toDateString() === today.toDateString()) return CLOCK.format(date)
  const format = date.getFullYear() === today.getFullYear() ? DAY : DAY_OF_YEAR
  return format.format(date).replace(',', '')
}

/**
 * The day of a row in a list, newest first: `Sun 22 Nov 2026` for the first row of a day; undefined for the others, and
 * for the first row if it is of today.
 *
 * @param above the row before it, undefined for the first
 */
export function dayHeading(at: string, above: string | undefined, now = Date.now()): string | undefined {
  const date = new Date(at)
  const before = above === undefined ? new Date(now) : new Date(above)
  return date.toDateString() === before.toDateString() ? undefined : WEEKDAY.format(date).replace(',', '')
}

/** The full form of an ISO timestamp, for titles. */
export const fullTime = (at: string): string => FULL.format(new Date(at))

/**
 * Relative time: `now`, `28s ago`, `in 4m`; `never` for null. Hours below two days, so that `in 24h` and `in 25h` differ.
 */
export function ago(at: string | null, now = Date.now()): string {
  if (at === null) return 'never'
  const seconds = Math.round((new Date(at).getTime() - now) / 1000)
  const size = Math.abs(seconds)
  if (size < 4) return 'now'
  if (size < 60) return RELATIVE.format(seconds, 'second')
  if (size < 3600) return RELATIVE.format(Math.round(seconds / 60), 'minute')
  if (size < 2 * 86_400) return RELATIVE.format(Math.round(seconds / 3600), 'hour')
  return RELATIVE.format(Math.round(seconds / 86_400), 'day')
}

/** Bytes in decimal units. */
export function bytes(size: number): string {
  if (size < 1000) return `${size} B`
  if (size < 1_000_000) return `${(size / 1000).toFixed(size < 10_000 ? 1 : 0)} kB`
  return size < 1_000_000_000
    ? `${(size / 1_000_000).toFixed(1)} MB`
    : `${(size / 1_000_000_000).toFixed(1)} GB`
}

/** Milliseconds for display; a dash if unknown. */
export function duration(ms: number | null): string {
  if (ms === null) return '–'
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`
}

/** Seconds as an interval: `24 h`, `1 h 10 min`, `45 s`. */
export function interval(seconds: number): string {
  const parts: string[] = []
  const units = [
    ['d', 86_400],
    ['h', 3600],
    ['min', 60],
    ['s', 1],
  ] as const
  let left = Math.round(seconds)
  for (const [unit, size] of units) {
    const amount = Math.floor(left / size)
    // 24 h reads better than 1 d.
    if (unit === 'd' && left < 2 * size) continue
    if (amount > 0) parts.push(`${amount} ${unit}`)
    left -= amount * size
  }
  return parts.slice(0, 2).join(' ') || '0 s'
}

/** A number with thin gaps between thousands. */
export const count = (number: number): string => number.toLocaleString('en').replaceAll(',', '\u2009')

/** `1 request`, `2 requests`. */
export const plural = (number: number, word: string): string =>
  `${count(number)} ${number === 1 ? word : /[^aeiou]y$/.test(word) ? `${word.slice(0, -1)}ies` : `${word}s`}`

/** An address without its scheme, for display. */
export const withoutScheme = (url: string): string => url.replace(/^https?:\/\//, '')

/** An English ordinal: `1st`, `2nd`, `11th`. */
export function ordinal(place: number): string {
  const last = place % 10
  const isTeen = Math.floor(place / 10) % 10 === 1
  const ending = isTeen ? 'th' : last === 1 ? 'st' : last === 2 ? 'nd' : last === 3 ? 'rd' : 'th'
  return `${place}${ending}`
}

/** Plans represent "no limit" by a billion, or by a quadrillion bytes. */
const NO_LIMIT = 1_000_000_000
const NO_LIMIT_BYTES = 1_000_000_000_000_000

/** Whether the plan is worth a mention: a service of one's own has none. */
export const hasPlan = ({ key }: { readonly key: string }): boolean => key !== 'self-hosted'

/** Whether a limit of a plan is a real one. */
export const isLimit = (limit: number): boolean => limit < NO_LIMIT

/** A limit of a plan: `200`, or `no limit`. */
export const limitWords = (limit: number): string => (isLimit(limit) ? count(limit) : 'no limit')

/** A limit in bytes: `10.0 MB`, or `no limit`. */
export const limitOfBytes = (limit: number): string => (limit < NO_LIMIT_BYTES ? bytes(limit) : 'no limit')

/** A number with its limit, if there is one: `3 of 10`, `3`. */
export const ofLimit = (used: number, limit: number): string =>
  isLimit(limit) ? `${count(used)} of ${count(limit)}` : count(used)
