/** Default seconds between one attempt and the next: 7 attempts, about 17.6 h. */
export const RETRY_DELAYS_SECONDS = [5, 300, 1800, 7200, 18_000, 36_000] as const

const UNIT_SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 }
const DURATION = /^\s*(\d{1,9}(?:\.\d{1,3})?)\s*(ms|s|m|h|d)\s*$/
const DELAYS_MAX = 50
const DELAY_SECONDS_MAX = 30 * 86_400

/** Reads a comma list of durations such as `5s,5m,2h` as seconds. An item that is no duration is NaN. */
export function retryDelaysOf(text: string): number[] {
  return text.split(',').map((part) => {
    const [, amount, unit = ''] = DURATION.exec(part) ?? []
    return Number(amount) * (UNIT_SECONDS[unit] ?? Number.NaN)
  })
}

/** From this many seconds on, a delay in milliseconds has more digits than a duration may have. */
const MS_DIGITS_SECONDS_MAX = 999_999

/** Writes delays for {@link retryDelaysOf}: each in the largest unit in which it is whole, such as `250ms,5m,2h`. */
export function retryScheduleText(delaysSeconds: readonly number[]): string {
  return delaysSeconds
    .map((seconds) => {
      const whole = ['d', 'h', 'm', 's'].find((name) => Number.isInteger(seconds / (UNIT_SECONDS[name] ?? 1)))
      const unit = whole ?? (seconds < MS_DIGITS_SECONDS_MAX ? 'ms' : 's')
      return `${Number((seconds / (UNIT_SECONDS[unit] ?? 1)).toFixed(3))}${unit}`
    })
    .join(',')
}

/** Whether a text is a schedule: 1 to 50 durations, each over 0 and at most 30 days. */
export function isRetrySchedule(text: string): boolean {
  const delays = retryDelaysOf(text)
  return delays.length <= DELAYS_MAX && delays.every((delay) => delay > 0 && delay <= DELAY_SECONDS_MAX)
}
