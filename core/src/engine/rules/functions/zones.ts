/** Formatters that are kept: they are costly to make, and zones may come from bodies. */
const KEPT = 32
const formatters = new Map<string, Intl.DateTimeFormat>()

/** Whether a text names a time zone of the IANA database; false for offsets like `+01:00`. */
export function isZone(zone: string): boolean {
  return zone.length <= 64 && /^[A-Za-z]/.test(zone) && formatterOf(zone) !== undefined
}

/**
 * The local time in a zone.
 *
 * @param at milliseconds since 1970
 * @returns `date` holds the local time in its UTC members
 */
export function localTime(at: number, zone: string): { date: Date; offsetMinutes: number } {
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
export function offsetText(minutes: number): string {
  if (minutes === 0) return 'Z'
  const size = Math.abs(minutes)
  const pad = (number: number) => String(number).padStart(2, '0')
  return `${minutes < 0 ? '-' : '+'}${pad(Math.floor(size / 60))}:${pad(size % 60)}`
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
