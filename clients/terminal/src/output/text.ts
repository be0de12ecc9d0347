/** `1.4 kB`: a size in at most six characters. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  const [size, unit] = bytes < 1e6 ? [bytes / 1e3, 'kB'] : [bytes / 1e6, 'MB']
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${unit}`
}

/** A duration for display: `12 s`, `4 min`, `3 h`, `2 d`. */
export function spanText(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`
  return `${Math.round(seconds / 86_400)} d`
}

/** Time since a moment, e.g. `4 min ago`; empty for null. */
export function agoText(timestamp: string | null, now: number): string {
  if (timestamp === null) return ''
  return `${spanText(Math.max(0, (now - Date.parse(timestamp)) / 1000))} ago`
}

/** The time of day in the user's own time zone: `14:03:07`. */
export function clockText(timestamp: string): string {
  const date = new Date(timestamp)
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(':')
}

/** Day and time in the user's own time zone: `2026-11-22 14:03:07`. */
export function dateTimeText(timestamp: string): string {
  const date = new Date(timestamp)
  const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(twoDigits).join('-')
  return `${day} ${clockText(timestamp)}`
}

const twoDigits = (part: number): string => String(part).padStart(2, '0')
