import { InvalidArgumentError } from 'commander'

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/**
 * Parses a duration to seconds: `90s`, `15m`, `12h`, `30d`.
 *
 * @throws InvalidArgumentError for any other text
 */
export function durationSeconds(text: string): number {
  const [, amount, unit = ''] = /^(\d{1,7})([smhd])$/.exec(text) ?? []
  const seconds = Number(amount) * (UNIT_SECONDS[unit] ?? Number.NaN)
  if (Number.isNaN(seconds)) throw new InvalidArgumentError('Give a duration like 90s, 15m, 12h or 30d.')
  return seconds
}
