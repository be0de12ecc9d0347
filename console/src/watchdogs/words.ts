import type { Answers } from '../trpc.ts'

/** A watchdog. */
export type Watchdog = Answers['watchdogs']['list']['items'][number]

/** Label and colour of each state. */
export const STATES: Readonly<Record<Watchdog['state'], { words: string; tone: string }>> = {
  waiting: { words: 'waiting for first match', tone: 'plain' },
  onTime: { words: 'on time', tone: 'ok' },
  late: { words: 'late', tone: 'warn' },
  alarmed: { words: 'alarmed', tone: 'bad' },
  paused: { words: 'paused', tone: 'plain' },
}

const UNITS = [
  ['days', 86_400],
  ['hours', 3600],
  ['minutes', 60],
  ['seconds', 1],
] as const

/** A unit of time for input. */
export type Unit = (typeof UNITS)[number][0]

/** The names of the units, longest first. */
export const UNIT_NAMES: readonly Unit[] = UNITS.map(([name]) => name)

/** Seconds in the longest unit that divides them evenly. */
export function inUnits(seconds: number): { amount: string; unit: Unit } {
  const [unit, size] =
    UNITS.find(([, one]) => seconds > 0 && seconds % one === 0 && seconds >= one) ?? UNITS[2]
  return { amount: String(seconds / size), unit }
}

/** Converts to seconds; NaN if the amount is not a number. */
export function secondsOf({ amount, unit }: { amount: string; unit: Unit }): number {
  const size = UNITS.find(([name]) => name === unit)?.[1] ?? 1
  return amount.trim() === '' ? Number.NaN : Math.round(Number(amount) * size)
}
